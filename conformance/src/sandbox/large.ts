import { describe } from 'vitest'
import { archiveBombCases } from './archives/limits.ts'
import { largeListingCases } from './files/listing.ts'
import { largeSearchCases } from './files/searching.ts'
import type { MakeSandbox } from './kit.ts'
import { largePersistenceCases } from './persistence/large.ts'

/** Cases with hundreds of megabytes or thousands of files. They depend on the transport, not on isolation or store. */
export function largeCases(make: MakeSandbox): void {
  describe('files', () => {
    largeListingCases(make)
    largeSearchCases(make)
  })
  describe('archives', () => archiveBombCases(make))
  describe('persistence', () => largePersistenceCases(make))
}
