import { randomHex } from '@vitrine/protocol'

/** A journal event about one outgoing connection of a sandbox. */
export type EgressEvent =
  | {
      readonly type: 'network.allowed'
      readonly data: ConnectionData & { readonly phase: 'opened' | 'closed' }
    }
  | { readonly type: 'network.failed'; readonly data: ConnectionData & { readonly error: string } }
  | {
      readonly type: 'network.refused'
      readonly data: ConnectionData & { readonly reason: string; readonly allow?: string }
    }

/** A type alias, because an interface is not assignable to the journal's `data`. */
export type ConnectionData = {
  /** The same in all events of a connection. */
  readonly connection: string
  readonly host: string
  /** 0 if the target could not be parsed. */
  readonly port: number
  readonly address?: string
  readonly reason?: string
  /** Bytes received from the target, including HTTP headers. */
  readonly bytesIn?: number
  /** Bytes sent to the target, including HTTP headers. */
  readonly bytesOut?: number
  readonly durationMs?: number
  readonly process?: string
}

/** Resolves once the event is committed. The proxy dials only after that. */
export type RecordEgress = (event: EgressEvent) => Promise<void>

const maxHostLength = 255

export function newConnectionId(): string {
  return `conn_${randomHex(16)}`
}

/** Truncates a requested host for the journal and removes the password of a `user:password@host`. */
export function boundedHost(raw: string): string {
  return raw
    .slice(0, 2 * maxHostLength)
    .replace(/:[^:@]*@/g, ':…@')
    .slice(0, maxHostLength)
    .toWellFormed()
}
