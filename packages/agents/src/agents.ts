import type { ContentBlock, JsonObject } from '@vitrine/protocol'
import type { HostTool } from './tools/host-tool.ts'

/** A program of one's own that speaks the Agent Client Protocol. */
export interface ProgramAgent {
  readonly name: string
  /** The program and its arguments; `args` follow. */
  readonly command: string | readonly string[]
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Where it is started; default the session's directory. */
  readonly cwd?: string
  /** Hosts and ports that it must reach. */
  readonly egress?: readonly string[]
  /** Whether one process may serve several sessions; default no. */
  readonly shared?: boolean
}

export interface PromptContext {
  readonly session: string
  /** How many turns this session had before. */
  readonly round: number
  readonly signal: AbortSignal
  /** The workspace. */
  readonly workdir: string
}

/** What a function agent says: a text, an update of the protocol, or an event of any vocabulary. */
export type AgentOutput = string | JsonObject

/** Nothing, one, several at once, or several as they come. */
export type AgentOutputs = AgentOutput | readonly AgentOutput[] | AsyncIterable<AgentOutput> | undefined

/** A function is an agent too. */
export interface FunctionAgent {
  readonly name: string
  onPrompt(
    prompt: string,
    context: PromptContext & { readonly content: readonly ContentBlock[] },
  ): AgentOutputs | Promise<AgentOutputs>
}

export type CustomAgent = ProgramAgent | FunctionAgent

export function isFunctionAgent(agent: CustomAgent): agent is FunctionAgent {
  return 'onPrompt' in agent
}

/** Functions of this program that the agent of a session may call. */
export interface ToolsOption {
  readonly tools?: readonly HostTool[]
}
