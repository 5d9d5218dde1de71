import { describe } from 'vitest'
import { appendCases } from './append.ts'
import { blobCases } from './blobs.ts'
import { closingCases } from './closing.ts'
import { cursorCases } from './cursors.ts'
import { failingCases } from './failing.ts'
import type { MakeStore, StoreKitOptions } from './fixture.ts'
import { gapCases } from './gaps.ts'
import { integrityCases } from './integrity.ts'
import { mirrorCases } from './mirror.ts'
import { modelCases } from './model.ts'
import { orderCases } from './order.ts'
import { ownershipCases } from './ownership.ts'
import { readCases } from './read.ts'
import { readOnlyCases } from './read-only.ts'
import { recoveryCases } from './recovery.ts'
import { retentionCases } from './retention.ts'
import { sinkCases } from './sinks.ts'
import { tapCases } from './taps.ts'
import { trimmingCases } from './trimming.ts'
import { workCases } from './work.ts'

/**
 * Tests that every store must pass. Call it in a test file of the store.
 *
 * @example
 * storeConformance('memory', async () => {
 *   const driver = memoryStore()
 *   return { driver: () => driver, dispose: async () => {} }
 * })
 */
export function storeConformance(name: string, makeStore: MakeStore, options: StoreKitOptions = {}): void {
  describe(`store conformance: ${name}`, () => {
    appendCases(makeStore)
    orderCases(makeStore)
    readCases(makeStore)
    cursorCases(makeStore)
    workCases(makeStore)
    recoveryCases(makeStore)
    ownershipCases(makeStore)
    readOnlyCases(makeStore)
    closingCases(makeStore)
    retentionCases(makeStore)
    gapCases(makeStore)
    trimmingCases(makeStore)
    blobCases(makeStore)
    integrityCases(makeStore)
    sinkCases(makeStore)
    tapCases(makeStore)
    mirrorCases(makeStore)
    failingCases(makeStore)
    modelCases(makeStore, options)
  })
}
