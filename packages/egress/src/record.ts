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
  { address, allow }: { readonly address?: string | undefined; readonly allow?: string | undefined } = {},
): Promise<void> {
  return recordBestEffort(record, {
    type: 'network.refused',
    data: { ...connectionData(requested, address), reason, ...(allow !== undefined && { allow }) },
  })
}

/** Records what becomes of a connection that is on record. Never rejects. */
export interface RecordedConnection {
  failed(failure: { readonly address: string | undefined; readonly error: string }): Promise<void>
  closed(ending: ConnectionEnd): Promise<void>
}

/** Records an opened connection. Rejects if it cannot be recorded. */
export async function recordOpened(
  record: RecordEgress,
  requested: ConnectTarget,
  address: string | undefined,
): Promise<RecordedConnection> {
  const started = performance.now()
  const data = connectionData(requested, address)
  await record({ type: 'network.allowed', data: { ...data, phase: 'opened' } })
  const facts = (last: string | undefined) => ({
    ...data,
    ...(last !== undefined && { address: last }),
    durationMs: Math.round(performance.now() - started),
  })
  return {
    failed: ({ address: last, error }) =>
      recordBestEffort(record, { type: 'network.failed', data: { ...facts(last), error } }),
    closed: ({ address: last, ...ending }) =>
      recordBestEffort(record, {
        type: 'network.allowed',
        data: { ...facts(last), phase: 'closed', ...ending },
      }),
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
