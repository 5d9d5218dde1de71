import { describe } from 'vitest'
import type { MakeSandbox, SandboxKitOptions } from '../kit.ts'
import { changingCases } from './changing.ts'
import { grantCases } from './grants.ts'
import { linkCases } from './links.ts'
import { listingCases } from './listing.ts'
import { nameCases } from './names.ts'
import { fileOperationCases } from './operations.ts'
import { readingCases } from './reading.ts'
import { fileRegressionCases } from './regressions.ts'
import { searchingCases } from './searching.ts'
import { specialFileCases } from './special-files.ts'
import { userCases } from './users.ts'
import { writingCases } from './writing.ts'

export function filesCases(make: MakeSandbox, options: SandboxKitOptions): void {
  describe('files', () => {
    readingCases(make)
    writingCases(make, options)
    listingCases(make)
    changingCases(make)
    searchingCases(make)
    linkCases(make)
    specialFileCases(make)
    nameCases(make)
    userCases(make)
    grantCases(make)
    fileOperationCases(make, options)
    fileRegressionCases(make)
  })
}
