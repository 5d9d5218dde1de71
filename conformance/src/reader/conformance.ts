import { describe } from 'vitest'
import { blobCases } from './blobs.ts'
import { contentCases } from './content.ts'
import { itemCursorCases } from './cursors.ts'
import { exportCases } from './exporting.ts'
import type { MakeWriterAndReader } from './fixture.ts'
import { resumeCases } from './resume.ts'
import { tailCases } from './tail.ts'

/**
 * Tests that every reader of a journal must pass, whether local or remote.
 *
 * @example
 * readerConformance('the journal itself', async () => {
 *   const store = await openStore(memoryStore())
 *   const writer = await store.journal('sbx_a')
 *   return { writer, reader: async () => writer, dispose: () => store.close() }
 * })
 */
export function readerConformance(name: string, make: MakeWriterAndReader): void {
  describe(`reader conformance: ${name}`, () => {
    tailCases(make)
    resumeCases(make)
    contentCases(make)
    itemCursorCases(make)
    blobCases(make)
    exportCases(make)
  })
}
