import { Session } from 'node:inspector/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CommandPolicy } from '../../src/policy/command-policy.ts'
import { repeatable } from './scripts.ts'

/** V8 counts how often each block of the policy's code runs: steps, which are the same on every machine. */
const session = new Session()
let policy: CommandPolicy
let judge: typeof import('../../src/policy/judge.ts').judge

beforeAll(async () => {
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  // Only code that is loaded from now on is counted block by block.
  const { commandPolicy } = await import('../../src/policy/command-policy.ts')
  ;({ judge } = await import('../../src/policy/judge.ts'))
  policy = commandPolicy({ allow: ['*'], deny: ['rm -rf *'], otherwise: 'allow' })
})

afterAll(async () => {
  await session.post('Profiler.stopPreciseCoverage')
  session.disconnect()
})

/** How many blocks of the policy's code ran since it was last asked. */
async function stepsSinceLast(): Promise<number> {
  const { result } = await session.post('Profiler.takePreciseCoverage')
  return result
    .filter(({ url }) => url.includes('/src/policy/'))
    .flatMap(({ functions }) => functions)
    .flatMap(({ ranges }) => ranges)
    .reduce((sum, { count }) => sum + count, 0)
}

describe('judging a text', () => {
  it.each(repeatable)(
    'takes at most a thousand steps a character, with %j again and again',
    async (piece) => {
      const text = piece.repeat(Math.floor(16_000 / piece.length))
      await stepsSinceLast()
      judge(policy, text)
      judge(policy, `rm ${text}`)
      judge(policy, text.split(' '))
      const steps = await stepsSinceLast()
      expect(steps).toBeGreaterThan(1_000)
      expect(steps / text.length).toBeLessThan(1_000)
    },
  )
})
