/** The engine on one operating system: processes, terminals, files, watching, ports, isolation and lifecycle. */
export { removeFolder } from '@vitrine/archives'
export {
  type CommandPolicy,
  commandPolicy,
  type JudgedPart,
  type Judgement,
  judge,
  policyRules,
} from '@vitrine/command-policy'
export type {
  ArchiveLimits,
  CommandPolicyOptions,
  Grant,
  Isolation,
  LocalOptions,
  Rule,
  SandboxLimits,
  SetupStep,
  Verdict,
  WatchOptions,
  WorkspaceManifest,
} from '@vitrine/protocol'
export {} from '@vitrine/protocol/require-node'
export { createLocalSandbox, type LocalSandboxOptions } from './create-local-sandbox.ts'
export { diskUsage } from './disk/disk-usage.ts'
export { assertBindsAllowed } from './engine/bind-sources.ts'
export type { BuiltMachine } from './engine/core.ts'
export {
  ownTemporaryData,
  removeLeftVolume,
  unmountLeftVolumes,
  unmountVolumesOfDead,
} from './engine/left-volumes.ts'
export type { AskAboutCommand } from './engine/policy-gate.ts'
export { recordDestroyed } from './engine/record-destroyed.ts'
export type { LocalSandbox } from './engine/sandbox.ts'
export type { LiveReads, SandboxEngine } from './engine/sandbox-engine.ts'
export type { SandboxEnd } from './engine/sandbox-release.ts'
export { createEventOnlySandbox } from './event-only/sandbox.ts'
export { appendPrivately, type PrivateTarget } from './files/append-privately.ts'
export { removeAllPlaced } from './home/remove-placed.ts'
export { type LocalProvider, local } from './local.ts'
export { killOrphans } from './machine/orphans.ts'
export { drainOutput } from './processes/drain-output.ts'
export { readLogs, wasStarted } from './processes/logs.ts'
export { type PipedProcess, type ProcessMark, processMark } from './processes/piped-process.ts'
