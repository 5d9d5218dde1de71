import { describe } from 'vitest'
import { contentCases } from './content.ts'
import { resumeCases } from './resume.ts'
import type { MakeWriterAndReader } from './setting.ts'
import { tailCases } from './tail.ts'

/**
 * What every reader of a journal must do, wherever it reads from, as tests.
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
  })
}
