import type { EventInput, JournalEvent } from '../events/envelope.ts'
import type { ObserverFailure, OnObserverError } from '../observing.ts'
import { type Listener, notifyOne } from './notify.ts'

/** At most one message about a kind of observer is logged in this time. */
const logIntervalMs = 60_000
const maxErrorText = 1_000

interface ObserverErrorsOptions {
  readonly onObserverError?: OnObserverError | undefined
  /** Appends a `log.message`. Its own failure is ignored. */
  readonly log?: (event: EventInput) => unknown
  /** A monotonic clock in milliseconds. */
  readonly now?: () => number
}

/**
 * Counts the errors of observers, passes each to `onObserverError`, and logs the first of each kind and then at most one a
 * minute. No method throws.
 */
export class ObserverErrors {
  readonly #options: ObserverErrorsOptions
  readonly #kinds = new Map<string, { errors: number; loggedAt: number | undefined }>()

  constructor(options: ObserverErrorsOptions) {
    this.#options = options
  }

  report(observer: string, error: unknown, event?: JournalEvent): void {
    const kind = this.#kinds.get(observer) ?? { errors: 0, loggedAt: undefined }
    this.#kinds.set(observer, kind)
    kind.errors += 1
    const { errors } = kind
    const { onObserverError = () => undefined, log, now = () => performance.now() } = this.#options
    const failure: ObserverFailure = { observer, errors, ...(event !== undefined && { event }) }
    void notifyOne((given: ObserverFailure) => onObserverError(error, given), failure, ignore)
    if (log === undefined || isObserverLog(event)) return
    if (kind.loggedAt !== undefined && now() - kind.loggedAt < logIntervalMs) return
    kind.loggedAt = now()
    void notifyOne(log, observerLog(failure, error), ignore)
  }

  /** A listener that calls the given one and never throws. */
  guard<Value>(observer: string, listener: Listener<Value>): (value: Value) => void {
    return (value) => void notifyOne(listener, value, (error) => this.report(observer, error))
  }
}

function observerLog({ observer, errors, event }: ObserverFailure, error: unknown): EventInput {
  const message = `The observer ${observer} failed: ${textOf(error)}`
  const { sandbox } = event ?? {}
  return {
    type: 'log.message',
    ...(sandbox !== undefined && { sandbox }),
    data: { level: 'error', message, observer, errors },
  }
}

/**
 * An observer that fails on the message about its own error must not cause another message. The observer may have changed
 * the event that it got, so any of its fields can be missing.
 */
function isObserverLog(event: Partial<JournalEvent> | undefined): boolean {
  return event?.type === 'log.message' && typeof event.data?.observer === 'string'
}

/** Any value can be thrown, also one that cannot be converted to a string. */
function textOf(error: unknown): string {
  try {
    const text = error instanceof Error ? error.message : String(error)
    return text.slice(0, maxErrorText).toWellFormed()
  } catch {
    return 'an error without a text'
  }
}

function ignore(): void {}
