import { expect, test } from 'vitest'
import { SharedWork } from '../../src/install/shared-work.ts'

function caller(signal?: AbortSignal) {
  const heard: string[] = []
  return {
    heard,
    onProgress: (progress: string) => void heard.push(progress),
    signal,
    cancelled: () => new Error('cancelled'),
  }
}

/** Work that ends when the test ends it, and that needs time to clean up after a cancel. */
function work() {
  const begun: { signal: AbortSignal; report: (progress: string) => void; done: () => void }[] = []
  const begin = ({ signal, report }: { signal: AbortSignal; report: (progress: string) => void }) =>
    new Promise<string>((resolve, reject) => {
      begun.push({ signal, report, done: () => resolve('result') })
      signal.addEventListener('abort', () => setImmediate(() => reject(new Error('taken back'))))
    })
  return { begun, begin }
}

test('shares the work and its progress between callers with the same key', async () => {
  const shared = new SharedWork<string, string>()
  const { begun, begin } = work()
  const [one, two, other] = [caller(), caller(), caller()]
  const results = [shared.join('a', begin, one), shared.join('a', begin, two), shared.join('b', begin, other)]
  expect(begun).toHaveLength(2)
  begun[0]?.report('half')
  for (const { done } of begun) done()
  expect(await Promise.all(results)).toEqual(['result', 'result', 'result'])
  expect([one.heard, two.heard, other.heard]).toEqual([['half'], ['half'], []])
})

test('continues for the other callers when one aborts', async () => {
  const shared = new SharedWork<string, string>()
  const { begun, begin } = work()
  const leaving = new AbortController()
  const left = shared.join('a', begin, caller(leaving.signal))
  const stays = shared.join('a', begin, caller())
  leaving.abort()
  await expect(left).rejects.toThrow('cancelled')
  expect(begun[0]?.signal.aborted).toBe(false)
  begun[0]?.done()
  expect(await stays).toBe('result')
})

test('cancels the work with its last caller, who waits for the clean-up', async () => {
  const shared = new SharedWork<string, string>()
  const { begun, begin } = work()
  const leaving = new AbortController()
  const left = shared.join('a', begin, caller(leaving.signal))
  leaving.abort()
  const next = shared.join('a', begin, caller())
  expect(begun).toHaveLength(1)
  await expect(left).rejects.toThrow('taken back')
  // A call during the clean-up starts new work afterwards.
  await expect.poll(() => begun.length).toBe(2)
  begun[1]?.done()
  expect(await next).toBe('result')
})
