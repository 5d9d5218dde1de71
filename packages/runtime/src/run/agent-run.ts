import { type McpServer, type OpenSessionOptions, type Sandbox, VitrineError } from '@vitrine/protocol'
import { shown } from '@vitrine/protocol/primitives'
import type { TurnKind } from '../events/sandbox-event.ts'

/**
 * An agent and its settings as portable data, which can be stored and sent. Observers, hooks and credentials are never part of it;
 * they are options of a run.
 */
export interface AgentProfile {
  readonly name?: string
  /** The agent's name on the host: `claude`, `codex`, … or one that the host was opened with. */
  readonly agent: string
  readonly model?: string
  readonly mode?: string
  readonly thoughtLevel?: string
  /** Text that precedes the first prompt of a session. */
  readonly instructions?: string
  readonly mcpServers?: readonly McpServer[]
}

/** An agent and how it gets its task. */
export interface AgentRunSpec<Task = string> {
  readonly name: string
  readonly profile: AgentProfile
  /** The prompt for a task. */
  taskToPrompt(task: Task): string
  /** Prepares a sandbox before the first prompt: installs, writes files. */
  prepareBox?(box: Sandbox, context: { readonly signal: AbortSignal }): unknown
}

/** Options of the session that are no part of a profile. */
export type RunSessionOptions = Pick<
  OpenSessionOptions,
  'cwd' | 'credentials' | 'modelEndpoint' | 'env' | 'permissions' | 'limits' | 'restoreChars'
>

export function sessionOptions(
  { agent, model, mode, thoughtLevel, mcpServers }: AgentProfile,
  given: RunSessionOptions,
): OpenSessionOptions {
  return {
    ...given,
    agent,
    ...(model !== undefined && { model }),
    ...(mode !== undefined && { mode }),
    ...(thoughtLevel !== undefined && { thoughtLevel }),
    ...(mcpServers !== undefined && { mcpServers }),
  }
}

/** The prompt of a turn. The instructions of the profile precede the first one. */
export function promptOf<Task>(
  agentRun: AgentRunSpec<Task>,
  { kind, task }: { readonly kind: TurnKind; readonly task: Task },
): string {
  const text: unknown = agentRun.taskToPrompt(task)
  if (typeof text !== 'string' || text.trim() === '')
    throw new VitrineError(
      'argument_invalid',
      `taskToPrompt: expected a prompt that is not blank, got ${shown(text)}.`,
    )
  const { instructions } = agentRun.profile
  return kind === 'start' && instructions !== undefined ? `${instructions}\n\n${text}` : text
}
