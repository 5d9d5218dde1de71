import type { JsonObject } from '../json.ts'
import { type ErrorCode, errorEntry, isErrorCode, type Retryable } from './registry.ts'

const brand = Symbol.for('vitrine.error')

export interface VitrineErrorOptions {
  readonly cause?: unknown
  /** Details for programs, such as the field, the file or the owner. Never a secret. */
  readonly details?: JsonObject
}

/**
 * The error class of Vitrine. `code` is for programs, `message` for people, `hint` says what to do about it.
 *
 * @example
 * throw new VitrineError('cursor_invalid', 'Expected a cursor, got "abc".')
 */
export class VitrineError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly retryable: Retryable
  readonly hint: string
  readonly details: JsonObject
  readonly [brand] = true

  constructor(code: ErrorCode, message: string, options: VitrineErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    const { status, retryable, hint } = errorEntry(code)
    this.code = code
    this.status = status
    this.retryable = retryable
    this.hint = hint
    this.details = options.details ?? {}
  }

  /** Restores an error from its recorded code and message. A code that is not in the registry becomes `agent_failed`. */
  static restored(code: string, message: string): VitrineError {
    return new VitrineError(isErrorCode(code) ? code : 'agent_failed', message)
  }

  static {
    Object.defineProperty(VitrineError.prototype, 'name', { value: 'VitrineError', configurable: true })
  }
}

/** Whether a value is a `VitrineError`, also one of another copy of this package, where `instanceof` fails. */
export function isVitrineError(error: unknown): error is VitrineError {
  return typeof error === 'object' && error !== null && brand in error
}

/** Wraps any other thrown value as the cause of a `VitrineError`, by default with the code `internal`. */
export function toVitrineError(error: unknown, code: ErrorCode = 'internal'): VitrineError {
  if (isVitrineError(error)) return error
  const message = error instanceof Error ? error.message : textOf(error)
  return new VitrineError(code, message, { cause: error })
}

function textOf(thrown: unknown): string {
  try {
    return String(thrown)
  } catch {
    return 'A value that cannot be converted to a string was thrown.'
  }
}
