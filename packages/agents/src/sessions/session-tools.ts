import type { Journal, Store } from '@vitrine/journal'
import type { JsonObject } from '@vitrine/protocol'
import type { LocalSandbox } from '@vitrine/sandbox'
import type { ToolsOption } from '../tools/host-tool.ts'
import { type ServedTools, serveTools } from '../tools/serve-tools.ts'
import type { AgentInstance } from './agent-instance.ts'
import type { AgentSession } from './agent-session.ts'
import { objectIn } from './fields.ts'

interface ToolsEnvironment {
  readonly sandbox: LocalSandbox
  readonly journal: Journal
  readonly store: Store
  /** The Node that the sandbox sees. */
  readonly node: string
}

type Served = ServedTools & { forget(): void }

/** The host's own functions, as servers on the sandbox's loopback: one for each session that has some. */
export class SessionTools {
  readonly #place: ToolsEnvironment
  readonly #served = new Map<string, Served>()

  constructor(place: ToolsEnvironment) {
    this.#place = place
  }

  /** The servers that a session's agent is told of. */
  async serversFor(
    session: AgentSession,
    instance: AgentInstance,
    { mcpServers = [], tools = [] }: ToolsOption & { readonly mcpServers?: readonly JsonObject[] },
  ): Promise<readonly JsonObject[]> {
    if (tools.length === 0) return mcpServers
    const served = this.#served.get(session.id) ?? (await this.#serve(session, tools))
    const http = objectIn(instance.capabilities, 'mcpCapabilities')?.http === true
    return [...mcpServers, { ...(http ? served.server : served.stdio) }]
  }

  async #serve(session: AgentSession, tools: NonNullable<ToolsOption['tools']>): Promise<Served> {
    const { sandbox, journal, store, node } = this.#place
    const served = await serveTools({
      session: session.id,
      tools,
      listen: (port) => sandbox.listen(port),
      around: (tool, input, run) =>
        journal.as({ ...session.context, actor: session.agent }).operate('host_tool', { tool, input }, run),
      relay: { node },
    })
    // Before the agent is told of it: that is on record.
    const forget = store.addSecret(`tools of ${session.id}`, served.token)
    const kept = { ...served, forget }
    this.#served.set(session.id, kept)
    return kept
  }

  /** Ends the calls of a session; its token is a secret until `forget`. */
  async close(session: string): Promise<Served | undefined> {
    const served = this.#served.get(session)
    this.#served.delete(session)
    await served?.close()
    return served
  }

  async closeAll(): Promise<void> {
    await Promise.allSettled([...this.#served.keys()].map((session) => this.close(session)))
  }
}
