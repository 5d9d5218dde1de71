import { describe } from 'vitest'
import type { MakeSandbox, SandboxKitOptions } from '../kit.ts'
import { fidelityCases } from './fidelity.ts'
import { hydratingCases } from './hydrating.ts'
import { persistenceRegressionCases } from './regressions.ts'
import { skippingCases } from './skipping.ts'
import { stoppingCases } from './stopping.ts'

export function persistenceCases(make: MakeSandbox, options: SandboxKitOptions): void {
  describe('persistence', () => {
    fidelityCases(make)
    hydratingCases(make)
    skippingCases(make)
    stoppingCases(make, options)
    persistenceRegressionCases(make)
  })
}
