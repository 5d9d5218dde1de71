/** Work by agents in sandboxes towards a deliverable, over turns, with observers and budgets. */
export { inlineSandboxClient, inProcessSandboxClient } from '@vitrine/host'
export {} from '@vitrine/protocol/require-node'
export type { BudgetBreach, BudgetLimit, RunBudget, Spend } from './budget/budget.ts'
export {
  type DefineSandboxOptions,
  type DefinitionLifecycle,
  defineSandbox,
  type EnsureContext,
  type SandboxDefinition,
} from './definition/define-sandbox.ts'
export type { Tenant } from './definition/definition-key.ts'
export type { FileHooks } from './definition/file-hooks.ts'
export type { SandboxHooks } from './definition/hooked-sandbox.ts'
export type { SandboxEvent, SandboxEventMeta, TurnKind } from './events/sandbox-event.ts'
export type { SandboxFileEvent } from './files/file-event.ts'
export {
  type WorkspaceWatch,
  type WorkspaceWatchOptions,
  watchWorkspace,
} from './files/watch-workspace.ts'
export type { ObserveOptions, RunHookEvent, RunHooks } from './observe/run-observers.ts'
export type { AgentProfile, AgentRunSpec, RunSessionOptions } from './run/agent-run.ts'
export type { Deliverable } from './run/deliverable.ts'
export { type RunEvidence, SandboxRunAbortError, SandboxRunError } from './run/evidence.ts'
export { openSandboxRun } from './run/open-sandbox-run.ts'
export type { OpenSandboxRunOptions, TurnOptions, TurnResult } from './run/options.ts'
export type { SandboxRun } from './run/sandbox-run.ts'
