import { expect, it } from 'vitest'
import { scale } from '../src/scale.ts'
import { growth, rounds } from './rounds.ts'

/** The three last runs, with their sandboxes and events, may still be referenced by a timer or a settled promise. */
const maxAlive = 9

it('memory, descriptors, processes and directories are back after many runs ended in every way', {
  timeout: 60_000 + scale.runs * 4_000,
}, async () => {
  const remains = await rounds('run-rounds.ts', [String(scale.runs)])
  const [first] = remains
  const last = remains.at(-1)
  expect(last?.rounds).toBe(scale.runs)
  for (const { alive } of remains) expect(alive).toBeLessThanOrEqual(maxAlive)
  expect(last?.descriptors).toBe(first?.descriptors)
  expect(last?.directories).toBe(0)
  expect(last?.processes).toBe(0)
  expect(growth(remains)).toBeLessThan(0.1)
})
