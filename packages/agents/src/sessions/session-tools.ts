import type { Journal, Store } from '@vitrine/journal'
import type { JsonObject } from '@vitrine/protocol'
import type { SandboxEngine } from '@vitrine/sandbox'
import type { ToolsOption } from '../tools/host-tool.ts'
import { type ServedTools, serveTools } from '../tools/serve-tools.ts'
import type { AgentInstance } from './agent-instance.ts'
import type { AgentSession } from './agent-session.ts'
import { objectIn } from './fields.ts'

interface ToolsEnvironment {
  readonly sandbox: SandboxEngine
  readonly journal: Journal
  readonly store: Store
  /** Path of Node inside the sandbox. */
  readonly node: string
}

type SessionServer = ServedTools & { forget(): void }

/** Serves host functions over MCP on the sandbox's loopback, with one server per session that has tools. */
export class SessionTools {
  readonly #environment: ToolsEnvironment
  readonly #served = new Map<string, SessionServer>()

  constructor(environment: ToolsEnvironment) {
    this.#environment = environment
  }

  /** The MCP servers to pass to a session's agent: the given ones and the host's tools. */
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

  async #serve(session: AgentSession, tools: NonNullable<ToolsOption['tools']>): Promise<SessionServer> {
    const { sandbox, journal, store, node } = this.#environment
    const served = await serveTools({
      session: session.id,
      tools,
      listen: (port) => sandbox.listen(port),
      around: (tool, input, run) =>
        journal.as(session.callContext).operate('host_tool', { tool, input }, run),
      relay: { node },
    })
    // Redact the token before it is sent to the agent, because that message is recorded.
    const forget = store.addSecret(`tools of ${session.id}`, served.token, { sandbox: sandbox.id })
    const entry = { ...served, forget }
    this.#served.set(session.id, entry)
    return entry
  }

  /** Ends the tool calls of a session; its token stays redacted until `forget`. */
  async close(session: string): Promise<SessionServer | undefined> {
    const served = this.#served.get(session)
    this.#served.delete(session)
    await served?.close()
    return served
  }

  async closeAll(): Promise<void> {
    await Promise.allSettled([...this.#served.keys()].map((session) => this.close(session)))
  }
}
