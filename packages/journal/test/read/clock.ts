import { onTestFinished, vi } from 'vitest'

export interface Clock {
  /** Advances the system time; timers are not affected. */
  advance(milliseconds: number): void
  set(time: number): void
}

/** A system time that changes only when the test advances it. */
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
