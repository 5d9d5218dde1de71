/** When the host ends a sandbox by itself, in milliseconds. Without a value it does not. */
export interface LifeTimes {
  /** Stops the sandbox after this time without activity. Its next use starts it again. */
  readonly idleStopMs?: number
  /** Stops the sandbox this long after each start, also while it is active. Its next use starts it again. */
  readonly maxAgeMs?: number
  /** Destroys the sandbox this long after its creation, whether it runs or not. */
  readonly ttlMs?: number
}
