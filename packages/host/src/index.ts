/** Sandboxes with agents: data directory, records, recovery, shutdown; and sandboxes with an in-process agent. */
export type {
  AgentOutput,
  CustomAgent,
  FunctionAgent,
  HostTool,
  ProgramAgent,
  PromptContext,
} from '@vitrine/agents'
export { TurnPieceSource, type TurnPiecesOptions } from '@vitrine/agents'
export {} from '@vitrine/protocol/require-node'
export { commandPolicy, type LocalOptions, local, type WorkspaceManifest } from '@vitrine/sandbox'
export { parseAgent } from './agents-file.ts'
export { createSandbox, type ScriptSandboxOptions } from './create-sandbox.ts'
export type { HostFloor } from './floor.ts'
export { Host } from './host.ts'
export type { HostAttachOptions, HostCreateOptions } from './host-parts.ts'
export type { HostSandbox } from './host-sandbox.ts'
export {
  type InProcessClient,
  type InProcessContext,
  type InProcessOptions,
  inProcessSandboxClient,
} from './in-process.ts'
export { type InlineExecutor, type InlineExecutorFactory, inlineSandboxClient } from './inline.ts'
export type { HostSink, JournalingOptions } from './journaling.ts'
export { type HostListAgentsOptions, listAgents } from './list-agents.ts'
export { HostLook } from './looking/host-look.ts'
export { readView } from './looking/read-view.ts'
export { type OpenHostOptions, openHost } from './open-host.ts'
