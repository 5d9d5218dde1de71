import { setTimeout as sleep } from 'node:timers/promises'

const patienceMs = 10_000

/** Looks again until it is so; the test fails when it never is. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + patienceMs
  while (!(await isSo())) {
    if (performance.now() > giveUpAt)
      throw new Error(`It did not come to be within ${patienceMs} ms: ${isSo}`)
    await sleep(2)
  }
}

/** How a promise settles, or that it does not within a bound. */
export async function settled<T>(
  promise: Promise<T>,
  withinMs = patienceMs,
): Promise<
  { status: 'fulfilled'; value: T } | { status: 'rejected'; reason: unknown } | { status: 'pending' }
> {
  const waiting = new AbortController()
  try {
    return await Promise.race([
      promise.then(
        (value) => ({ status: 'fulfilled' as const, value }),
        (reason: unknown) => ({ status: 'rejected' as const, reason }),
      ),
      sleep(withinMs, { status: 'pending' as const }, { signal: waiting.signal }),
    ])
  } finally {
    waiting.abort()
  }
}

/** What a call throws; the test fails when it does not. */
export async function thrownBy(call: () => unknown): Promise<unknown> {
  try {
    await call()
  } catch (error) {
    return error
  }
  throw new Error('Expected the call to throw, but it did not.')
}
