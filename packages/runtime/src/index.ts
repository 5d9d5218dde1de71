/** Work by agents in sandboxes towards a deliverable, over turns, with observers and budgets. */
export { inlineSandboxClient, inProcessSandboxClient } from '@vitrine/host'
export {} from '@vitrine/protocol/require-node'
export type { BudgetBreach, BudgetLimit, RunBudget, Spend } from './budget/budget.ts'
export type { AgentProfile, AgentRunSpec, RunSessionOptions } from './run/agent-run.ts'
export type { Deliverable } from './run/deliverable.ts'
export { type RunEvidence, SandboxRunAbortError, SandboxRunError } from './run/evidence.ts'
export { openSandboxRun } from './run/open-sandbox-run.ts'
export type {
  ObserveOptions,
  OpenSandboxRunOptions,
  RunHookEvent,
  RunHooks,
  SandboxEventMeta,
  TurnKind,
  TurnOptions,
  TurnResult,
} from './run/options.ts'
export type { SandboxEvent } from './run/sandbox-event.ts'
export type { SandboxRun } from './run/sandbox-run.ts'
