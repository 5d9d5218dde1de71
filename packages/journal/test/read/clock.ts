import { onTestFinished, vi } from 'vitest'

export interface Clock {
  /** Moves the time of day; timers go on as they are. */
  advance(milliseconds: number): void
  set(time: number): void
}

/** A time of day that stands still until the test moves it. */
export function stopClock(now = Date.parse('2026-01-02T03:04:05.000Z')): Clock {
  vi.useFakeTimers({ toFake: ['Date'], now })
  onTestFinished(() => {
    vi.useRealTimers()
  })
  return {
    advance: (milliseconds) => vi.setSystemTime(Date.now() + milliseconds),
    set: (time) => vi.setSystemTime(time),
  }
}
