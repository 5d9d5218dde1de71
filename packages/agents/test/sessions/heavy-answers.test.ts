import { expect, it } from 'vitest'
import { LargeResponseLimit } from '../../src/sessions/large-response-limit.ts'

it('makes no more answers than have been taken, in order', async () => {
  const heavy = new LargeResponseLimit()
  const made: number[] = []
  const all = Array.from({ length: 10 }, (_, n) =>
    heavy.work(`n${n}`, async () => {
      made.push(n)
    }),
  )
  await Promise.all(all.slice(0, 4))
  expect(made).toEqual([0, 1, 2, 3])
  // What was never one of them makes no room.
  heavy.answered('other')
  heavy.answered('n0')
  heavy.answered('n0')
  await all[4]
  expect(made).toEqual([0, 1, 2, 3, 4])
  for (let n = 1; n < 10; n += 1) heavy.answered(`n${n}`)
  await Promise.all(all)
  expect(made).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
})
