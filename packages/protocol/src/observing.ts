import type { JournalEvent } from './events/envelope.ts'

/** An observer that threw or rejected. Nothing else is affected by it. */
export interface ObserverFailure {
  /** How the observer was registered, such as `tap`, `session.onEvent` or `onInstall`. */
  readonly observer: string
  /** How often observers of this kind have failed here, this time included. */
  readonly errors: number
  /** The event that the observer was called with; absent for observers of other values. */
  readonly event?: JournalEvent
}

/** Called for each error of an observer. An error of this function is ignored. */
export type OnObserverError = (error: unknown, failure: ObserverFailure) => void
