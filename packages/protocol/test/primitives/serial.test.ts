import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Serial } from '../../src/primitives/index.ts'

describe('run', () => {
  it('runs one piece of work at a time, in the order of the calls', async () => {
    const serial = new Serial()
    const log: string[] = []
    const work = (name: string) => async () => {
      log.push(`begin ${name}`)
      await new Promise(setImmediate)
      log.push(`end ${name}`)
      return name
    }
    const names = ['a', 'b', 'c']
    expect(await Promise.all(names.map((name) => serial.run(work(name))))).toEqual(names)
    expect(log).toEqual(names.flatMap((name) => [`begin ${name}`, `end ${name}`]))
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('failed')
      },
    ],
    ['rejects', () => Promise.reject(new Error('failed'))],
  ])('rejects with the error of work that %s, and runs the next', async (_how, work) => {
    const serial = new Serial()
    const failing = serial.run(work)
    const next = serial.run(() => 'next')
    await expect(failing).rejects.toThrow('failed')
    expect(await next).toBe('next')
  })

  it('starts the work in a later microtask, also when nothing else runs', async () => {
    const serial = new Serial()
    let isStarted = false
    const running = serial.run(() => {
      isStarted = true
    })
    expect(isStarted).toBe(false)
    await running
    expect(isStarted).toBe(true)
  })

  it('rejects a waiting call with the reason of its signal at once, and never starts its work', async () => {
    const serial = new Serial()
    const first = Promise.withResolvers<void>()
    const holding = serial.run(() => first.promise)
    const controller = new AbortController()
    const started: string[] = []
    const cancelled = serial.run(() => started.push('cancelled'), controller.signal)
    const last = serial.run(() => started.push('last'))
    controller.abort('no longer needed')
    await expect(cancelled).rejects.toBe('no longer needed')
    await expect(serial.run(() => started.push('late'), controller.signal)).rejects.toBe('no longer needed')
    first.resolve()
    await Promise.all([holding, last])
    expect(started).toEqual(['last'])
  })

  it('does not cancel work that has started', async () => {
    const controller = new AbortController()
    const running = new Serial().run(async () => {
      controller.abort()
      await new Promise(setImmediate)
      return 'done'
    }, controller.signal)
    expect(await running).toBe('done')
  })

  it('keeps nothing of calls that were cancelled while they waited', async () => {
    const serial = new Serial()
    const first = Promise.withResolvers<void>()
    const holding = serial.run(() => first.promise)
    const controller = new AbortController()
    const waiting = Array.from({ length: 1_000 }, () => serial.run(() => undefined, controller.signal))
    expect(serial.waiting).toBe(1_000)
    controller.abort()
    await Promise.allSettled(waiting)
    expect(serial.waiting).toBe(0)
    first.resolve()
    await holding
  })

  it('runs each call once and alone, in order, whatever fails, is cancelled or is called by other work', async () => {
    const call = fc.record({
      turns: fc.nat(4),
      fails: fc.boolean(),
      aborts: fc.option(fc.nat(6), { nil: undefined }),
      inner: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(call, { maxLength: 12 }), async (calls) => {
        const serial = new Serial()
        const started: number[] = []
        const inner: Promise<unknown>[] = []
        let running = 0
        const alone = async (work: () => Promise<void>) => {
          running += 1
          expect(running).toBe(1)
          await work()
          running -= 1
        }
        const results = calls.map(async ({ turns, fails, aborts, inner: callsAgain }, index) => {
          const controller = new AbortController()
          const result = serial.run(async () => {
            started.push(index)
            await alone(() => microtasks(turns))
            // Work that calls `run` must not wait for it: it would wait for itself.
            if (callsAgain) inner.push(serial.run(() => alone(() => microtasks(1))))
            if (fails) throw new Error(String(index))
            return index
          }, controller.signal)
          if (aborts !== undefined) void microtasks(aborts).then(() => controller.abort())
          return result
        })
        const settled = await Promise.allSettled(results)
        await Promise.all(inner)
        expect(started).toEqual([...started].sort((one, other) => one - other))
        for (const [index, { status }] of settled.entries()) {
          const { fails = false, aborts } = calls[index] ?? {}
          const isStarted = started.includes(index)
          expect(status).toBe(isStarted && !fails ? 'fulfilled' : 'rejected')
          if (aborts === undefined) expect(isStarted).toBe(true)
        }
        expect(serial.waiting).toBe(0)
        expect(await serial.run(() => 'free')).toBe('free')
      }),
    )
  })
})

async function microtasks(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await Promise.resolve()
}
