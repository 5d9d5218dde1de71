/** Coding agents over the Agent Client Protocol: registry, installation, sessions, permissions, and a demo agent. */
export {} from '@vitrine/protocol/require-node'

export { Bridge, type BridgeOptions, type Direction, type Interpretation } from './bridge/bridge.ts'
export type { BridgeClient, BridgeClientOptions } from './bridge/bridge-client.ts'
export type { AgentExit, AgentTransport, StderrExcerpt } from './bridge/transport.ts'
export { agentFolders } from './install/agent-folders.ts'
export { type InstallAgentOptions, installAgent } from './install/install-agent.ts'
export { type ListAgentsOptions, listAgents } from './install/list-agents.ts'
export { can } from './registry/capabilities.ts'
export type {
  AgentOutput,
  AgentOutputs,
  CustomAgent,
  FunctionAgent,
  ProgramAgent,
  PromptContext,
} from './registry/custom-agent.ts'
export type { AgentEntry } from './registry/entry.ts'
export { findAgent, knownAgents } from './registry/known-agents.ts'
export type { AgentSession } from './sessions/agent-session.ts'
export {
  type LiveSession,
  type OpenOptions,
  SandboxSessions,
  type SandboxSessionsOptions,
} from './sessions/sandbox-sessions.ts'
export type { AgentConfig } from './sessions/start/agent-config.ts'
export { TurnPieceSource, type TurnPiecesOptions } from './sessions/turn-piece-source.ts'
export type { HostTool, HostToolContext, ToolsOption } from './tools/host-tool.ts'
