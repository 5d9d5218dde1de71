import {
  boundedHost,
  type ConnectionData,
  type EgressEvent,
  newConnectionId,
  type RecordReach,
} from './event.ts'
import type { Target, Unreadable } from './target.ts'

/** What a program asked for: as written, and as understood. */
export interface ConnectTarget {
  readonly raw: string
  readonly target: Target | Unreadable
  readonly process: string | undefined
}

/** How a connection ended, for the record. */
export interface ConnectionEnd {
  readonly address: string | undefined
  readonly reason?: string
  readonly bytesIn: number
  readonly bytesOut: number
}

/** A refusal stands, whether or not it could be written down. */
export function recordRefused(
  record: RecordReach,
  asked: ConnectTarget,
  reason: string,
  address?: string,
): Promise<void> {
  return recordPast(record, { type: 'network.refused', data: { ...begun(asked, address), reason } })
}

/** Rejects when it could not be written down. Resolves to what records the end of the same connection. */
export async function recordOpened(
  record: RecordReach,
  asked: ConnectTarget,
  address: string | undefined,
): Promise<(ending: ConnectionEnd) => Promise<void>> {
  const started = performance.now()
  const data = begun(asked, address)
  await record({ type: 'network.allowed', data: { ...data, phase: 'opened' } })
  return ({ address: last, ...ending }) => {
    const durationMs = Math.round(performance.now() - started)
    return recordPast(record, {
      type: 'network.allowed',
      data: { ...data, phase: 'closed', ...(last !== undefined && { address: last }), ...ending, durationMs },
    })
  }
}

/** For what has happened already: the next connection finds out by itself that nothing can be recorded. */
async function recordPast(record: RecordReach, event: EgressEvent): Promise<void> {
  try {
    await record(event)
  } catch {}
}

function begun({ raw, target, process }: ConnectTarget, address: string | undefined): ConnectionData {
  const { host, port } = 'host' in target ? target : { host: boundedHost(raw), port: 0 }
  return {
    connection: newConnectionId(),
    host,
    port,
    ...(address !== undefined && { address }),
    ...(process !== undefined && { process }),
  }
}
