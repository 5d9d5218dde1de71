import { expect, it } from 'vitest'
import { scale } from '../src/scale.ts'
import { growth, rounds } from './rounds.ts'

/** The last sandboxes may still be referenced by a timer or a settled promise. */
const maxAlive = 3

it.each(['script', 'in-process', 'engine'])(
  'memory, descriptors and directories are back after many %s sandboxes were created and destroyed',
  { timeout: 60_000 + scale.scriptSandboxes * 2_000 },
  async (kind) => {
    const remains = await rounds('script-rounds.ts', [kind, String(scale.scriptSandboxes)])
    const [first] = remains
    const last = remains.at(-1)
    expect(last?.rounds).toBe(scale.scriptSandboxes)
    for (const { alive } of remains) expect(alive).toBeLessThanOrEqual(maxAlive)
    expect(last?.descriptors).toBe(first?.descriptors)
    expect(last?.directories).toBe(first?.directories)
    expect(last?.processes).toBe(0)
    expect(growth(remains)).toBeLessThan(0.1)
  },
)
