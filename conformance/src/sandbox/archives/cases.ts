import { describe } from 'vitest'
import type { MakeSandbox, SandboxKitOptions } from '../kit.ts'
import { badTarCases } from './bad-tars.ts'
import { badZipCases } from './bad-zips.ts'
import { cancelledCases } from './cancelled.ts'
import { damagedCases } from './damaged.ts'
import { directoryCases } from './directories.ts'
import { downloadingCases } from './downloading.ts'
import { extractingCases } from './extracting.ts'
import { archiveLimitCases } from './limits.ts'
import { archiveOperationCases } from './operations.ts'
import { archiveRegressionCases } from './regressions.ts'
import { unpackingOverCases } from './unpacking-over.ts'

export function archiveCases(make: MakeSandbox, options: SandboxKitOptions): void {
  describe('archives', () => {
    downloadingCases(make)
    directoryCases(make, options)
    extractingCases(make)
    badTarCases(make)
    badZipCases(make)
    damagedCases(make)
    archiveLimitCases(make)
    unpackingOverCases(make)
    cancelledCases(make)
    archiveOperationCases(make, options)
    archiveRegressionCases(make)
  })
}
