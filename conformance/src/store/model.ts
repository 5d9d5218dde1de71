import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { MakeStore, StoreKitOptions } from './fixture.ts'
import { faultAfterStep, faultAtTheEnd } from './model/invariants.ts'
import { Model } from './model/model.ts'
import { history } from './model/step.ts'

/** Random histories of writers, readers, trims, takeovers and crashes: acknowledged and delivered events must persist. */
export function modelCases(makeStore: MakeStore, { histories = 50 }: StoreKitOptions): void {
  describe('any history', () => {
    it(
      'gives every reader each event once and in order, or a gap that says exactly what is missing',
      async () => {
        await fc.assert(
          fc.asyncProperty(history, async ({ recent, steps }) => {
            const model = new Model(await makeStore(), recent)
            try {
              for (const step of steps) {
                await model.run(step)
                expect(faultAfterStep(model)).toBeUndefined()
              }
              await model.finish()
              expect(faultAfterStep(model)).toBeUndefined()
              expect(await faultAtTheEnd(model)).toBeUndefined()
            } finally {
              await model.dispose()
            }
          }),
          { numRuns: histories },
        )
      },
      // Long enough for all histories.
      histories * 10_000,
    )
  })
}
