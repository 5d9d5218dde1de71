import { expect, it } from 'vitest'
import { callsThrough, SandboxUses } from '../../src/life-times/sandbox-uses.ts'

/** A sandbox that only notes what happens to it. */
function scene() {
  const steps: string[] = []
  const uses = new SandboxUses(() => steps.push('used'))
  const start = async () => {
    steps.push('start')
    await Promise.resolve()
    uses.started()
  }
  const call = (name: string) => uses.run(() => void steps.push(name), start)
  return { steps, uses, call }
}

it('a call on a sandbox that its host has not stopped starts nothing', async () => {
  const { steps, call } = scene()
  await call('exec')
  expect(steps).toEqual(['exec', 'used'])
})

it('calls during a stop wait for it, and the first one starts the sandbox again, once', async () => {
  const { steps, uses, call } = scene()
  const stopped = Promise.withResolvers<void>()
  const stopping = uses.autoStop(() => stopped.promise)
  const calls = [call('one'), call('two')]
  expect([uses.isAutoStopped, uses.inFlight]).toEqual([true, 2])
  await Promise.resolve()
  expect(steps).toEqual([])
  stopped.resolve()
  await Promise.all([stopping, ...calls])
  expect(steps).toEqual(['start', 'one', 'two', 'used', 'used'])
  expect([uses.isAutoStopped, uses.inFlight]).toEqual([false, 0])
})

it('a call inside the stop, as of a hook, does not wait for the stop', async () => {
  const { steps, uses, call } = scene()
  await uses.autoStop(async () => {
    await Promise.resolve()
    await call('hook')
  })
  expect(steps).toEqual(['hook'])
  expect(uses.isAutoStopped).toBe(true)
})

it('a sandbox that its owner stops after its host did is not started by a call', async () => {
  const { steps, uses, call } = scene()
  await uses.autoStop(async () => undefined)
  await uses.ownersStop(async () => undefined)
  await call('exec')
  expect(steps).toEqual(['exec', 'used'])
})

it('a sandbox that its host begins to stop while its owner does is not started by a call', async () => {
  const { steps, uses, call } = scene()
  await uses.ownersStop(async () => {
    await uses.autoStop(async () => undefined)
    expect(uses.isAutoStopped).toBe(true)
  })
  await call('exec')
  expect(steps).toEqual(['exec', 'used'])
})

it('a sandbox that its host begins to stop while its owner starts it is started again by a call', async () => {
  const { steps, uses, call } = scene()
  const stopped = Promise.withResolvers<void>()
  const stopping = uses.autoStop(() => stopped.promise)
  uses.started()
  stopped.resolve()
  await stopping
  await call('exec')
  expect(steps).toEqual(['start', 'exec', 'used'])
})

it('a start that fails is tried again by the next call, and so is a call after a stop that failed', async () => {
  const { steps, uses, call } = scene()
  await expect(uses.autoStop(() => Promise.reject(new Error('hook')))).rejects.toThrow('hook')
  await expect(
    uses.run(
      () => steps.push('never'),
      () => Promise.reject(new Error('full')),
    ),
  ).rejects.toThrow('full')
  await call('exec')
  expect(steps).toEqual(['used', 'start', 'exec', 'used'])
})

it('methods keep their own `this`, and those that are no use are called directly', async () => {
  class Files {
    readonly #name = 'a'
    async read(): Promise<string> {
      return this.#name
    }
    watch(): string {
      return this.#name
    }
    readonly size = 1
  }
  let runs = 0
  const files = callsThrough(
    new Files(),
    (method) => method !== 'watch',
    async (call) => {
      runs += 1
      return call()
    },
  )
  expect([await files.read(), files.watch(), files.size, runs]).toEqual(['a', 'a', 1, 1])
})
