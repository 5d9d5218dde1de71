import { describe } from 'vitest'
import { archiveCases } from './archives/cases.ts'
import { capabilityCases } from './capabilities/cases.ts'
import { endingCases } from './endings.ts'
import { execCases } from './exec.ts'
import { filesCases } from './files/cases.ts'
import type { MakeSandbox, SandboxKitOptions } from './kit.ts'
import { largeCases } from './large.ts'
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
import { terminalCases } from './terminals.ts'

/** The parts of the kit, in the order in which they run. */
const groups = {
  exec: execCases,
  endings: endingCases,
  output: outputCases,
  limits: limitCases,
  record: recordCases,
  processes: processCases,
  logs: logCases,
  restarts: restartCases,
  terminals: terminalCases,
  machine: machineCases,
  ports: portCases,
  files: filesCases,
  archives: archiveCases,
  persistence: persistenceCases,
  large: largeCases,
  lifecycle: lifecycleCases,
  regressions: regressionCases,
  capabilities: capabilityCases,
} satisfies Record<string, (make: MakeSandbox, options: SandboxKitOptions, name: string) => void>

/** A part of the kit, by name. */
export type SandboxGroup = keyof typeof groups

/** All parts of the kit. The cast: the keys of a record that is typed by its keys. */
export const sandboxGroups: readonly SandboxGroup[] = Object.keys(groups) as SandboxGroup[]

/**
 * What every sandbox must do with processes, terminals, ports and its own life, as tests. It ends by printing what
 * the sandbox claims beside what was measured. An implementation runs all groups once; a variant of it that differs in
 * one respect, the store for instance, runs those in which it matters.
 *
 * @example
 * sandboxConformance('local', async ({ limits } = {}) => {
 *   const sandbox = await createSandbox({ provider: local({ limits }) })
 *   return { sandbox, journal: sandbox.journal, close: () => sandbox.close() }
 * })
 */
export function sandboxConformance(
  name: string,
  make: MakeSandbox,
  {
    groups: chosen = sandboxGroups,
    ...options
  }: SandboxKitOptions & { readonly groups?: readonly SandboxGroup[] } = {},
): void {
  describe(`sandbox conformance: ${name}`, () => {
    for (const group of chosen) groups[group](make, options, name)
  })
}
