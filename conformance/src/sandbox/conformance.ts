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
import { modelTerminalCases } from './model-terminals.ts'
import { outputCases } from './output.ts'
import { persistenceCases } from './persistence/cases.ts'
import { portCases } from './ports.ts'
import { processCases } from './processes.ts'
import { recordCases } from './record.ts'
import { regressionCases } from './regressions.ts'
import { restartCases } from './restarts.ts'
import { secretCases } from './secrets.ts'
import { terminalCases } from './terminals.ts'

/** The groups of this test suite (the kit), in the order in which they run. */
const groups = {
  exec: execCases,
  endings: endingCases, // exit codes, signals, time limits
  output: outputCases,
  limits: limitCases,
  record: recordCases, // what the journal has of an exec
  secrets: secretCases,
  processes: processCases,
  logs: logCases,
  restarts: restartCases,
  terminals: terminalCases,
  modelTerminals: modelTerminalCases,
  machine: machineCases, // all commands share one /tmp, loopback and process table
  ports: portCases,
  files: filesCases,
  archives: archiveCases,
  persistence: persistenceCases,
  large: largeCases, // large files and archives
  lifecycle: lifecycleCases,
  regressions: regressionCases,
  capabilities: capabilityCases,
} satisfies Record<string, (make: MakeSandbox, options: SandboxKitOptions, name: string) => void>

/** The name of a group of the kit. */
export type SandboxGroup = keyof typeof groups

/** The names of all groups. The cast is safe: these are the keys of `groups`. */
export const sandboxGroups: readonly SandboxGroup[] = Object.keys(groups) as SandboxGroup[]

/**
 * Registers the tests that every sandbox must pass: processes, terminals, ports, files, archives, persistence and
 * lifecycle. The last group prints the claimed capabilities next to the measured ones. An implementation runs all groups
 * once; a variant that differs in one respect, for example the store, runs only the groups that depend on it.
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
