import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { repeatable } from './scripts.ts'

/** Counts steps instead of time, since they are the same on every machine. */
let counter: ChildProcess

beforeAll(async () => {
  const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning']
  counter = fork(new URL('count-steps.ts', import.meta.url), { execArgv: flags })
  await once(counter, 'message')
})

afterAll(async () => {
  counter.disconnect()
  await once(counter, 'exit')
})

describe('judging a text', () => {
  it.each(repeatable)('takes at most a thousand steps per character for repetitions of %j', async (piece) => {
    const text = piece.repeat(Math.floor(16_000 / piece.length))
    counter.send(text)
    const [steps] = (await once(counter, 'message')) as [number]
    expect(steps).toBeGreaterThan(1_000)
    expect(steps / text.length).toBeLessThan(1_000)
  })
})
