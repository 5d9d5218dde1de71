import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Model } from './model/model.ts'
import { faultAtTheEnd, faultNow } from './model/promises.ts'
import { history } from './model/step.ts'
import type { MakeStore, StoreKitOptions } from './scene.ts'

/** Random histories of writers, readers, trimmings, takeovers and crashes: what was promised to anyone must hold. */
export function modelCases(makeStore: MakeStore, { histories = 50 }: StoreKitOptions): void {
  describe('any history', () => {
    it(
      'gives every reader each event once and in order, or a gap that says exactly what is missing',
      async () => {
        await fc.assert(
          fc.asyncProperty(history, async ({ recent, steps }) => {
            const world = new Model(await makeStore(), recent)
            try {
              for (const step of steps) {
                await world.take(step)
                expect(faultNow(world)).toBeUndefined()
              }
              await world.settle()
              expect(faultNow(world)).toBeUndefined()
              expect(await faultAtTheEnd(world)).toBeUndefined()
            } finally {
              await world.dispose()
            }
          }),
          { numRuns: histories },
        )
      },
      // None of them is left out for want of time.
      histories * 10_000,
    )
  })
}
