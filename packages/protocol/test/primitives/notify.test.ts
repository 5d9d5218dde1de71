import { describe, expect, it } from 'vitest'
import { notify, notifyOne } from '../../src/primitives/index.ts'

const error = new Error('broken')

describe('notifyOne', () => {
  it('has ended when the listener returns no promise', () => {
    const seen: number[] = []
    expect(notifyOne((value: number) => seen.push(value), 1, fail)).toBeUndefined()
    expect(seen).toEqual([1])
  })

  it('resolves when an asynchronous listener ends', async () => {
    const end = Promise.withResolvers<void>()
    let hasEnded = false
    const ended = notifyOne(() => end.promise, 1, fail)?.then(() => {
      hasEnded = true
    })
    await new Promise(setImmediate)
    expect(hasEnded).toBe(false)
    end.resolve()
    await ended
    expect(hasEnded).toBe(true)
  })

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw error
      },
    ],
    ['rejects', () => Promise.reject(error)],
    [
      'returns a thenable that throws',
      () => ({
        // biome-ignore lint/suspicious/noThenProperty: the point of the test
        get then(): never {
          throw error
        },
      }),
    ],
  ])('passes on the error of a listener that %s', async (_how, listener) => {
    const errors: unknown[] = []
    await notifyOne(listener, 1, (thrown) => errors.push(thrown))
    expect(errors).toEqual([error])
  })
})

describe('notify', () => {
  it('calls every listener, whichever fails', async () => {
    const [seen, errors]: [string[], unknown[]] = [[], []]
    const listeners = new Set([
      (value: string) => seen.push(`1 ${value}`),
      () => {
        throw error
      },
      () => Promise.reject(error),
      (value: string) => seen.push(`2 ${value}`),
    ])
    notify(listeners, 'x', (thrown) => errors.push(thrown))
    expect(seen).toEqual(['1 x', '2 x'])
    await new Promise(setImmediate)
    expect(errors).toEqual([error, error])
  })

  it('skips listeners that another one removes, and those that another one adds', () => {
    const seen: string[] = []
    const removed = () => seen.push('removed')
    const listeners = new Set<() => unknown>([
      () => {
        listeners.delete(removed)
        listeners.add(() => seen.push('added'))
      },
      removed,
      () => seen.push('last'),
    ])
    notify(listeners, undefined, fail)
    expect(seen).toEqual(['last'])
  })
})

function fail(thrown: unknown): never {
  throw thrown
}
