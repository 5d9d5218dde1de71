import { describe } from 'vitest'
import { archiveCases } from './archives/cases.ts'
import { capabilityCases } from './capabilities/cases.ts'
import { endingCases } from './endings.ts'
import { execCases } from './exec.ts'
import { filesCases } from './files/cases.ts'
import { lifecycleCases } from './lifecycle.ts'
import { limitCases } from './limits.ts'
import { logCases } from './logs.ts'
import { machineCases } from './machine.ts'
import { outputCases } from './output.ts'
import { persistenceCases } from './persistence/cases.ts'
import { portCases } from './ports.ts'
import { processCases } from './processes.ts'
import { recordCases } from './record.ts'
import { regressionCases } from './regressions.ts'
import { restartCases } from './restarts.ts'
import type { MakeSandbox, SandboxKitOptions } from './setting.ts'
import { terminalCases } from './terminals.ts'

/**
 * What every sandbox must do with processes, terminals, ports and its own life, as tests. It ends by printing what
 * the sandbox claims beside what was measured.
 *
 * @example
 * sandboxConformance('local', async ({ limits } = {}) => {
 *   const sandbox = await createSandbox({ provider: local({ limits }) })
 *   return { sandbox, journal: sandbox.journal, close: () => sandbox.close() }
 * })
 */
export function sandboxConformance(name: string, make: MakeSandbox, options: SandboxKitOptions = {}): void {
  describe(`sandbox conformance: ${name}`, () => {
    execCases(make)
    endingCases(make)
    outputCases(make)
    limitCases(make)
    recordCases(make)
    processCases(make)
    logCases(make)
    restartCases(make)
    terminalCases(make)
    machineCases(make)
    portCases(make)
    filesCases(make, options)
    archiveCases(make, options)
    persistenceCases(make, options)
    lifecycleCases(make, options)
    regressionCases(make, options)
    capabilityCases(name, make)
  })
}
