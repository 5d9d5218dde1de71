import { setTimeout as sleep } from 'node:timers/promises'
import { settledWithin } from '@vitrine/protocol/primitives'

/** Long enough for a busy machine. */
const defaultTimeoutMs = 20_000

/** Waits for a promise, or fails after the time limit with an error that names `what`. */
export async function withTimeLimit<T>(
  what: string,
  promise: Promise<T>,
  milliseconds = defaultTimeoutMs,
): Promise<T> {
  if (await settledWithin(promise, milliseconds, { ref: true })) return promise
  throw new Error(`Expected ${what} within ${milliseconds} ms.`)
}

/** Polls until the check is true, or fails after the time limit with an error that names `what`. */
export async function eventually(
  what: string,
  check: () => boolean | Promise<boolean>,
  milliseconds = defaultTimeoutMs,
): Promise<void> {
  const until = performance.now() + milliseconds
  for (let pause = 1; !(await check()); pause = Math.min(pause * 2, 25)) {
    if (performance.now() > until) throw new Error(`Expected ${what} within ${milliseconds} ms.`)
    await sleep(pause)
  }
}
