import { expect, it } from 'vitest'
import { LargeResponseLimit } from '../../src/sessions/large-response-limit.ts'

it('runs at most four responses at a time, in order, until one is released', async () => {
  const limit = new LargeResponseLimit()
  const built: number[] = []
  const all = Array.from({ length: 10 }, (_, n) =>
    limit.run(`n${n}`, async () => {
      built.push(n)
    }),
  )
  await Promise.all(all.slice(0, 4))
  expect(built).toEqual([0, 1, 2, 3])
  // Releasing an unknown key frees no slot.
  limit.release('other')
  limit.release('n0')
  limit.release('n0')
  await all[4]
  expect(built).toEqual([0, 1, 2, 3, 4])
  for (let n = 1; n < 10; n += 1) limit.release(`n${n}`)
  await Promise.all(all)
  expect(built).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
})
