import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { longestTimer, settledWithin } from '../../src/primitives/time-limit.ts'

const never = new Promise<never>(() => undefined)

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

describe('settledWithin()', () => {
  it.each([
    ['fulfilled', () => Promise.resolve(1)],
    ['rejected', () => Promise.reject(new Error('failed'))],
    ['absent', () => undefined],
  ])('is true for a promise that is %s, and clears its timer', async (_what, make) => {
    expect(await settledWithin(make(), 1_000)).toBe(true)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('is true for a promise that settles before the limit, and false for one that does not', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const early = settledWithin(promise, 1_000)
    const late = settledWithin(never, 1_000)
    vi.advanceTimersByTime(999)
    resolve()
    expect(await early).toBe(true)
    vi.advanceTimersByTime(1)
    expect(await late).toBe(false)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('is false as soon as the signal aborts, and clears its timer', async () => {
    const controller = new AbortController()
    const waited = settledWithin(never, 1_000, { signal: controller.signal })
    controller.abort()
    expect(await waited).toBe(false)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('with an aborted signal, is true only for a promise that has settled', async () => {
    const signal = AbortSignal.abort()
    expect(await settledWithin(never, 1_000, { signal })).toBe(false)
    expect(await settledWithin(Promise.resolve(), 1_000, { signal })).toBe(true)
    expect(await settledWithin(Promise.reject(new Error('failed')), 1_000, { signal })).toBe(true)
    expect(vi.getTimerCount()).toBe(0)
  })

  it.each([
    ['the promise', Promise.resolve(), 1_000],
    ['the time', never, 0],
  ])('removes its listener when %s ends the wait', async (_what, promise, ms) => {
    const { signal } = new AbortController()
    const added = vi.spyOn(signal, 'addEventListener')
    const removed = vi.spyOn(signal, 'removeEventListener')
    const waited = settledWithin(promise, ms, { signal })
    vi.advanceTimersByTime(1)
    await waited
    expect(added).toHaveBeenCalledOnce()
    expect(removed).toHaveBeenCalledWith('abort', added.mock.calls[0]?.[1])
  })

  it('sets no timer for an infinite limit', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const waited = settledWithin(promise, Number.POSITIVE_INFINITY)
    expect(vi.getTimerCount()).toBe(0)
    resolve()
    expect(await waited).toBe(true)
  })

  it('sets the longest timer for a limit that no timer can hold', async () => {
    const set = vi.spyOn(globalThis, 'setTimeout')
    const waited = settledWithin(never, longestTimer + 1)
    expect(set).toHaveBeenCalledWith(expect.any(Function), longestTimer)
    vi.advanceTimersByTime(longestTimer)
    expect(await waited).toBe(false)
  })

  it('keeps Node running only with `ref`', async () => {
    const set = vi.spyOn(globalThis, 'setTimeout')
    void settledWithin(never, 1_000)
    void settledWithin(never, 1_000, { ref: true })
    expect(set.mock.results.map(({ value }) => value.hasRef())).toEqual([false, true])
  })

  it('accepts the timers of a browser, which are numbers', async () => {
    vi.stubGlobal('setTimeout', (fire: () => void) => {
      queueMicrotask(fire)
      return 7
    })
    const clear = vi.fn()
    vi.stubGlobal('clearTimeout', clear)
    try {
      expect(await settledWithin(never, 1_000)).toBe(false)
      expect(clear).toHaveBeenCalledWith(7)
    } finally {
      vi.unstubAllGlobals()
    }
  })

  it('leaves no unhandled rejection when the promise rejects after the limit', async () => {
    const unhandled = vi.fn()
    process.on('unhandledRejection', unhandled)
    try {
      const { promise, reject } = Promise.withResolvers<void>()
      const waited = settledWithin(promise, 1_000)
      vi.advanceTimersByTime(1_000)
      expect(await waited).toBe(false)
      reject(new Error('late'))
      vi.useRealTimers()
      // Node reports unhandled rejections after the microtasks, before the next turn of the event loop.
      await new Promise((resolve) => setImmediate(resolve))
      expect(unhandled).not.toHaveBeenCalled()
    } finally {
      process.off('unhandledRejection', unhandled)
    }
  })
})
