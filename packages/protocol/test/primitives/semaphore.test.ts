import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Semaphore } from '../../src/primitives/index.ts'

const never = new AbortController().signal

describe('tryAcquire', () => {
  it('gives as many slots as the limit, and each again after its release', () => {
    const semaphore = new Semaphore(2)
    const first = semaphore.tryAcquire()
    expect(first).toBeDefined()
    expect(semaphore.tryAcquire()).toBeDefined()
    expect(semaphore.tryAcquire()).toBeUndefined()
    first?.()
    expect(semaphore.tryAcquire()).toBeDefined()
    expect(semaphore.tryAcquire()).toBeUndefined()
  })

  it('gives no second slot for a second release', () => {
    const semaphore = new Semaphore(1)
    const release = semaphore.tryAcquire()
    release?.()
    release?.()
    expect(semaphore.tryAcquire()).toBeDefined()
    expect(semaphore.tryAcquire()).toBeUndefined()
  })
})

describe('acquire', () => {
  it('serves waiting callers in their order', async () => {
    const semaphore = new Semaphore(1, 10)
    const served: number[] = []
    await Promise.all(
      [1, 2, 3].map(async (caller) => {
        const release = await semaphore.acquire(never)
        served.push(caller)
        release?.()
      }),
    )
    expect(served).toEqual([1, 2, 3])
  })

  it('resolves to undefined when too many callers wait', async () => {
    const semaphore = new Semaphore(1, 1)
    const release = await semaphore.acquire(never)
    const second = semaphore.acquire(never)
    expect(semaphore.waiting).toBe(1)
    expect(await semaphore.acquire(never)).toBeUndefined()
    release?.()
    expect(await second).toBeDefined()
    expect(semaphore.waiting).toBe(0)
  })

  it('rejects with the reason of an aborted signal and does not take a slot', async () => {
    const semaphore = new Semaphore(1, 1)
    await expect(semaphore.acquire(AbortSignal.abort('before'))).rejects.toBe('before')
    const release = semaphore.tryAcquire()
    const controller = new AbortController()
    const waiting = semaphore.acquire(controller.signal)
    controller.abort('while waiting')
    await expect(waiting).rejects.toBe('while waiting')
    expect(semaphore.waiting).toBe(0)
    release?.()
    expect(semaphore.tryAcquire()).toBeDefined()
  })

  it('never lets a newcomer take the slot that was passed to a waiting caller', async () => {
    const semaphore = new Semaphore(1, 1)
    const release = semaphore.tryAcquire()
    const waiting = semaphore.acquire(never)
    release?.()
    expect(semaphore.tryAcquire()).toBeUndefined()
    expect(await waiting).toBeDefined()
  })

  it('keeps the limit and frees every slot, whatever is aborted', async () => {
    const callers = fc.array(fc.record({ turns: fc.nat(4), abort: fc.boolean() }), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 3 }), callers, async (limit, given) => {
        const semaphore = new Semaphore(limit, given.length)
        let running = 0
        let most = 0
        await Promise.allSettled(
          given.map(async ({ turns, abort }) => {
            const controller = new AbortController()
            const acquiring = semaphore.acquire(controller.signal)
            if (abort) controller.abort()
            const release = await acquiring
            running += 1
            most = Math.max(most, running)
            for (let turn = 0; turn < turns; turn += 1) await Promise.resolve()
            running -= 1
            release?.()
          }),
        )
        expect(most).toBeLessThanOrEqual(limit)
        for (let slot = 0; slot < limit; slot += 1) expect(semaphore.tryAcquire()).toBeDefined()
        expect(semaphore.tryAcquire()).toBeUndefined()
      }),
    )
  })
})
