import { isVitrineError, type Outcome, type Retryable } from '@vitrine/protocol'
import type { SpanAttributes } from './trace.ts'

/** What an operation reports about its end, beside how it ended. */
export interface FinishData {
  readonly outcome?: Outcome
  readonly exitCode?: number | null
  readonly signal?: string | null
  readonly [key: string]: unknown
}

export interface Ending {
  readonly outcome: Outcome
  readonly ok: boolean
  readonly errorType?: string
  readonly errorCode?: string
  readonly errorMessage?: string
  readonly retryable?: Retryable
}

/** How a call that returned has ended: as it says itself, or by its exit code, or well. */
export function endingOfResult(data: FinishData): Ending {
  const clean = (data.exitCode ?? 0) === 0 && (data.signal ?? null) === null
  const outcome = data.outcome ?? (clean ? 'ok' : 'failed')
  return { outcome, ok: outcome === 'ok' }
}

export function endingOfError(error: unknown, signal: AbortSignal | undefined): Ending {
  const errorType = error instanceof Error ? error.name : typeof error
  const errorMessage = error instanceof Error ? error.message : String(error)
  const base = { ok: false, errorType, errorMessage } as const
  if (isVitrineError(error)) {
    const outcome =
      error.code === 'cancelled' || error.code === 'timeout' || error.code === 'interrupted'
        ? error.code
        : 'failed'
    return { ...base, outcome, errorCode: error.code, retryable: error.retryable }
  }
  if (errorType === 'TimeoutError')
    return { ...base, outcome: 'timeout', errorCode: 'timeout', retryable: 'unknown' }
  if (errorType === 'AbortError' || (signal?.aborted && error === signal.reason)) {
    return { ...base, outcome: 'cancelled', errorCode: 'cancelled', retryable: 'unknown' }
  }
  return { ...base, outcome: 'failed', ...systemCode(error), retryable: 'unknown' }
}

function systemCode(error: unknown): { errorCode?: string } {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? { errorCode: code } : {}
}

/** The few facts of an end that a span may carry. */
export function spanFacts(op: string, ending: Ending, data: FinishData): SpanAttributes {
  const facts: SpanAttributes = {}
  if (typeof data.alive === 'boolean') facts.alive = data.alive
  if (typeof data.exitCode === 'number') {
    facts.exit_code = data.exitCode
    facts['process.exit.code'] = data.exitCode
  }
  if (typeof data.port === 'number') facts['server.port'] = data.port
  if (typeof data.address === 'string' && isLoopback(data.address)) facts['server.address'] = data.address
  if (ending.errorType !== undefined) facts['error.type'] = ending.errorType
  else if (!ending.ok && op === 'exec') facts['error.type'] = 'ExecNonZeroError'
  if (ending.errorCode !== undefined) facts.error_code = ending.errorCode
  return facts
}

function isLoopback(address: string): boolean {
  return (
    address === 'localhost' ||
    address === '::1' ||
    address === '[::1]' ||
    /^127\.\d+\.\d+\.\d+$/.test(address)
  )
}
