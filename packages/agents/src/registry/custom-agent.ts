import type { ContentBlock, JsonObject } from '@vitrine/protocol'

/** A program, not in the registry, that speaks the Agent Client Protocol. */
export interface ProgramAgent {
  readonly name: string
  /** The program, or the program and its first arguments; `args` follow. */
  readonly command: string | readonly string[]
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Working directory of the process; default the session's directory. */
  readonly cwd?: string
  /** `host:port` destinations that are added to the sandbox's egress before the agent starts. */
  readonly egress?: readonly string[]
  /** Whether one process may serve several sessions; default false. */
  readonly shared?: boolean
}

export interface PromptContext {
  readonly session: string
  /** Number of earlier turns of this session. */
  readonly round: number
  readonly signal: AbortSignal
  /** The workspace directory. */
  readonly workdir: string
}

/** Output of a function agent: text, a `session/update` of the protocol, or an event of any other vocabulary. */
export type AgentOutput = string | JsonObject

/** No output, one output, an array, or a stream of outputs. */
export type AgentOutputs = AgentOutput | readonly AgentOutput[] | AsyncIterable<AgentOutput> | undefined

/** An agent that is a function in the host's process. */
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
