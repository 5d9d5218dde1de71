import { expect, test } from 'vitest'
import { SharedWork } from '../../src/install/shared-work.ts'

function caller(signal?: AbortSignal) {
  const heard: string[] = []
  return {
    heard,
    onProgress: (progress: string) => void heard.push(progress),
    signal,
    cancelled: () => new Error('called off'),
  }
}

/** Work that ends when the test says so, and that takes its time to be taken back. */
function work() {
  const begun: { signal: AbortSignal; report: (progress: string) => void; done: () => void }[] = []
  const begin = ({ signal, report }: { signal: AbortSignal; report: (progress: string) => void }) =>
    new Promise<string>((resolve, reject) => {
      begun.push({ signal, report, done: () => resolve('result') })
      signal.addEventListener('abort', () => setImmediate(() => reject(new Error('taken back'))))
    })
  return { begun, begin }
}

test('who asks for the same shares it, and hears how it goes', async () => {
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

test('one who leaves does not end it for the others', async () => {
  const shared = new SharedWork<string, string>()
  const { begun, begin } = work()
  const leaving = new AbortController()
  const left = shared.join('a', begin, caller(leaving.signal))
  const stays = shared.join('a', begin, caller())
  leaving.abort()
  await expect(left).rejects.toThrow('called off')
  expect(begun[0]?.signal.aborted).toBe(false)
  begun[0]?.done()
  expect(await stays).toBe('result')
})

test('it is called off with the last one, who waits until it is taken back', async () => {
  const shared = new SharedWork<string, string>()
  const { begun, begin } = work()
  const leaving = new AbortController()
  const left = shared.join('a', begin, caller(leaving.signal))
  leaving.abort()
  const next = shared.join('a', begin, caller())
  expect(begun).toHaveLength(1)
  await expect(left).rejects.toThrow('taken back')
  // What is asked for meanwhile begins anew after that.
  await expect.poll(() => begun.length).toBe(2)
  begun[1]?.done()
  expect(await next).toBe('result')
})
