import { isVitrineError, type Outcome, type Retryable } from '@vitrine/protocol'
import type { SpanAttributes } from './trace.ts'

/** Data that an operation adds to its `operation.finished` event. */
export interface FinishData {
  readonly outcome?: Outcome
  readonly exitCode?: number | null
  readonly signal?: string | null
  readonly [key: string]: unknown
}

export interface OperationEnd {
  readonly outcome: Outcome
  readonly ok: boolean
  readonly errorType?: string
  readonly errorCode?: string
  readonly errorMessage?: string
  readonly retryable?: Retryable
}

/** The end of a call that returned: its own outcome, else from its exit code. A bad exit code overrides `ok`. */
export function endingOfResult(data: FinishData): OperationEnd {
  const observed = outcomeOfExit(data)
  const outcome = data.outcome === undefined || data.outcome === 'ok' ? observed : data.outcome
  return { outcome, ok: outcome === 'ok' }
}

/** An exit code of null was not observed: without a signal, the outcome is unknown. */
function outcomeOfExit({ exitCode = 0, signal = null }: FinishData): Outcome {
  if (signal !== null) return 'failed'
  if (exitCode === null) return 'interrupted'
  return exitCode === 0 ? 'ok' : 'failed'
}

export function endingOfError(error: unknown, signal: AbortSignal | undefined): OperationEnd {
  const errorType = textIn(error, 'name') ?? typeof error
  const errorMessage = textIn(error, 'message') ?? textOf(error)
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
  const code = textIn(error, 'code')
  return code === undefined ? {} : { errorCode: code }
}

/** A string field of a thrown value. Any value can be thrown, and each needs an end event. */
function textIn(error: unknown, field: string): string | undefined {
  try {
    const text: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, field) : undefined
    return typeof text === 'string' ? text : undefined
  } catch {
    return undefined
  }
}

function textOf(error: unknown): string {
  try {
    return String(error)
  } catch {
    return 'a value that cannot be converted to a string was thrown'
  }
}

/** The facts of an end that are allowed in a span. */
export function spanFacts(op: string, ending: OperationEnd, data: FinishData): SpanAttributes {
  const facts: SpanAttributes = {}
  if (typeof data.alive === 'boolean') facts.alive = data.alive
  if (typeof data.exitCode === 'number') {
    facts.exit_code = data.exitCode
    facts['process.exit.code'] = data.exitCode
  }
  if (typeof data.port === 'number') facts['server.port'] = data.port
  if (typeof data.address === 'string' && isLoopback(data.address)) facts['server.address'] = data.address
  if (!ending.ok) facts['error.type'] = spanErrorType(op, ending, data)
  if (ending.errorCode !== undefined && isIdentifier(ending.errorCode)) facts.error_code = ending.errorCode
  return facts
}

function spanErrorType(op: string, { errorType, outcome }: OperationEnd, { exitCode }: FinishData): string {
  if (errorType !== undefined) return isIdentifier(errorType) ? errorType : 'Error'
  return op === 'exec' && outcome === 'failed' && typeof exitCode === 'number' ? 'ExecNonZeroError' : outcome
}

/** Only names and codes go into spans, not sentences, because spans are not redacted. */
function isIdentifier(text: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_.]{0,63}$/.test(text)
}

function isLoopback(address: string): boolean {
  return (
    address === 'localhost' ||
    address === '::1' ||
    address === '[::1]' ||
    /^127\.\d+\.\d+\.\d+$/.test(address)
  )
}
