/** Test kits that any implementation can run: stores, readers, crashes, sandboxes, attacks. */
export { type AttackAim, attackAims, attackConformance, attacks } from './attacks/conformance.ts'
export { attackingAgent } from './attacks/daemon/agent.ts'
export {
  type Attack,
  type AttackDriver,
  type AttackedDaemon,
  type AttackedOptions,
  type AttackTarget,
  type AttackVerdict,
  runAttack,
} from './attacks/kit.ts'
export type { AttackNeed } from './attacks/needs.ts'
export { type AttackRow, attackTable } from './attacks/table.ts'
export { type CrashReport, type CrashRound, type CrashTestOptions, crashTest } from './crash/run.ts'
export {
  type AllJournalsReader,
  allJournalsConformance,
  type MakeStoreAndReader,
  type StoreAndReader,
} from './reader/all-journals.ts'
export { readerConformance } from './reader/conformance.ts'
export type { MakeWriterAndReader, WriterAndReader } from './reader/fixture.ts'
export { type CapabilityRow, capabilityTable, compareCapabilities } from './sandbox/capabilities/compare.ts'
export { type Measured, measureCapabilities } from './sandbox/capabilities/measure.ts'
export { type SandboxGroup, sandboxConformance, sandboxGroups } from './sandbox/conformance.ts'
export type {
  AnotherHost,
  MakeSandbox,
  SandboxKitOptions,
  SandboxTestOptions,
  SandboxUnderTest,
  TestedSandbox,
} from './sandbox/kit.ts'
export { type WatcherKitOptions, watcherConformance } from './sandbox/watching/conformance.ts'
export { storeConformance } from './store/conformance.ts'
export type { MakeStore, StoreKitOptions, StoreUnderTest } from './store/fixture.ts'
