import {
  boundedHost,
  type ConnectionData,
  type EgressEvent,
  newConnectionId,
  type RecordEgress,
} from './event.ts'
import type { Target, UnreadableTarget } from './target.ts'

/** The target that a program requested, as sent and as parsed. */
export interface ConnectTarget {
  readonly raw: string
  readonly target: Target | UnreadableTarget
  readonly process: string | undefined
}

/** The end of a connection, as recorded. */
export interface ConnectionEnd {
  readonly address: string | undefined
  readonly reason?: string
  readonly bytesIn: number
  readonly bytesOut: number
}

/** Records a refusal. Never rejects: the refusal holds even if it could not be recorded. */
export function recordRefused(
  record: RecordEgress,
  requested: ConnectTarget,
  reason: string,
  address?: string,
): Promise<void> {
  return recordBestEffort(record, {
    type: 'network.refused',
    data: { ...connectionData(requested, address), reason },
  })
}

/** Records an opened connection and resolves to a function that records its end. Rejects if it cannot be recorded. */
export async function recordOpened(
  record: RecordEgress,
  requested: ConnectTarget,
  address: string | undefined,
): Promise<(ending: ConnectionEnd) => Promise<void>> {
  const started = performance.now()
  const data = connectionData(requested, address)
  await record({ type: 'network.allowed', data: { ...data, phase: 'opened' } })
  return ({ address: last, ...ending }) => {
    const durationMs = Math.round(performance.now() - started)
    return recordBestEffort(record, {
      type: 'network.allowed',
      data: { ...data, phase: 'closed', ...(last !== undefined && { address: last }), ...ending, durationMs },
    })
  }
}

/** Ignores a failure to record what has already happened; the next connection fails in `recordOpened`. */
async function recordBestEffort(record: RecordEgress, event: EgressEvent): Promise<void> {
  try {
    await record(event)
  } catch {}
}

function connectionData(
  { raw, target, process }: ConnectTarget,
  address: string | undefined,
): ConnectionData {
  const { host, port } = 'host' in target ? target : { host: boundedHost(raw), port: 0 }
  return {
    connection: newConnectionId(),
    host,
    port,
    ...(address !== undefined && { address }),
    ...(process !== undefined && { process }),
  }
}
