import { setTimeout as sleep } from 'node:timers/promises'

/** Long enough for a busy machine; a wait that takes this long has failed. */
const patienceMs = 20_000

/** The promise, or an error that says what was waited for. */
export async function within<T>(what: string, promise: Promise<T>, milliseconds = patienceMs): Promise<T> {
  const done = new AbortController()
  const late = async (): Promise<never> => {
    await sleep(milliseconds, undefined, { signal: done.signal })
    throw new Error(`Expected ${what} within ${milliseconds} ms.`)
  }
  try {
    return await Promise.race([promise, late()])
  } finally {
    done.abort()
  }
}

/** Looks again and again until the check is true. */
export async function eventually(
  what: string,
  check: () => boolean | Promise<boolean>,
  milliseconds = patienceMs,
): Promise<void> {
  const until = performance.now() + milliseconds
  for (let pause = 1; !(await check()); pause = Math.min(pause * 2, 25)) {
    if (performance.now() > until) throw new Error(`Expected ${what} within ${milliseconds} ms.`)
    await sleep(pause)
  }
}
