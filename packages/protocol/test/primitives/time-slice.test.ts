import { describe, expect, it } from 'vitest'
import { TimeSlice } from '../../src/primitives/index.ts'

describe('a time slice', () => {
  it('runs one of many callers in a turn of the event loop, in the order of their calls', async () => {
    const resumed: number[] = []
    const all = Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        await new TimeSlice().yieldToEventLoop()
        resumed.push(index)
      }),
    )
    const counts: number[] = []
    while (resumed.length < 20) {
      await new Promise(setImmediate)
      counts.push(resumed.length)
    }
    await all
    expect(resumed).toEqual(Array.from({ length: 20 }, (_, index) => index))
    for (const [index, count] of counts.entries()) expect(count - (counts[index - 1] ?? 0)).toBeLessThan(2)
  })

  it('has expired after its time, and not after the next turn began', async () => {
    const slice = new TimeSlice(undefined, 1)
    while (!slice.expired) performance.now()
    await slice.yieldToEventLoop()
    expect(new TimeSlice(undefined, 60_000).expired).toBe(false)
  })

  it('throws once its signal is aborted', async () => {
    const controller = new AbortController()
    const slice = new TimeSlice(controller.signal)
    controller.abort()
    await expect(slice.yieldToEventLoop()).rejects.toMatchObject({ code: 'cancelled' })
  })
})
