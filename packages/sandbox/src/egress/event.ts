import { randomHex } from '@vitrine/protocol'

/** One fact about one connection of a sandbox, to be journaled. */
export type EgressEvent =
  | {
      readonly type: 'network.allowed'
      readonly data: ConnectionData & { readonly phase: 'opened' | 'closed' }
    }
  | { readonly type: 'network.refused'; readonly data: ConnectionData & { readonly reason: string } }

/** A type, since a journal takes no interface as `data`. */
export type ConnectionData = {
  /** The same in `opened` and `closed`. */
  readonly connection: string
  readonly host: string
  /** 0 where the target was not understood. */
  readonly port: number
  readonly address?: string
  readonly reason?: string
  /** Towards the sandbox: what came from the target, its HTTP headers included. */
  readonly bytesIn?: number
  /** From the sandbox: what was sent to the target, its HTTP headers included. */
  readonly bytesOut?: number
  readonly durationMs?: number
  readonly process?: string
}

/** Resolves once the event is safe; nothing is dialed before. */
export type RecordReach = (event: EgressEvent) => Promise<void>

const longestHost = 255

export function newConnectionId(): string {
  return `conn_${randomHex(16)}`
}

/** What was asked for, bounded and without the password of a `user:password@host`. */
export function boundedHost(raw: string): string {
  return raw
    .slice(0, 2 * longestHost)
    .replace(/:[^:@]*@/g, ':…@')
    .slice(0, longestHost)
    .toWellFormed()
}
