import type { JsonObject } from '@vitrine/protocol'
import type { ToolCalls } from './calls.ts'
import type { OfferedTool } from './host-tool.ts'
import { type RpcMessage, rpcError, rpcErrors, rpcResult } from './json-rpc.ts'

/** The supported revisions of the Model Context Protocol, oldest first. */
export const protocolVersions: readonly string[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']

const newestVersion = '2025-11-25'

/** The tools and running calls of an MCP server that offers only tools. */
export interface ToolProtocol {
  readonly tools: ReadonlyMap<string, OfferedTool>
  readonly calls: ToolCalls
}

/** The client that sent a message. */
export interface MessageSender {
  /** MCP session id; empty for a client that sends none. */
  readonly client: string
  /** Aborted when the client has disconnected. */
  readonly disconnected: AbortSignal
}

/** Returns the response to a message; undefined for notifications and responses. */
export async function respondTo(
  { tools, calls }: ToolProtocol,
  message: RpcMessage,
  sender: MessageSender,
): Promise<JsonObject | undefined> {
  switch (message.kind) {
    case 'response':
      return undefined
    case 'invalid':
      return rpcError(message.id, rpcErrors.invalidRequest, message.why)
    case 'notification': {
      const id = message.params.requestId
      const hasId = typeof id === 'string' || typeof id === 'number'
      if (message.method === 'notifications/cancelled' && hasId) calls.cancel(sender.client, id)
      return undefined
    }
    case 'request': {
      const { id, method, params } = message
      switch (method) {
        case 'initialize':
          return rpcResult(id, initializeResult(params.protocolVersion))
        case 'ping':
          return rpcResult(id, {})
        case 'tools/list':
          return rpcResult(id, { tools: [...tools.values()].map(listing) })
        case 'tools/call': {
          const { name, arguments: given = {} } = params
          const offered = typeof name === 'string' ? tools.get(name) : undefined
          if (offered === undefined)
            return rpcError(id, rpcErrors.invalidParams, unknownTool(name, tools.keys()))
          return rpcResult(id, await calls.call(offered, given, { ...sender, id }))
        }
        default:
          return rpcError(id, rpcErrors.methodNotFound, `Unknown method: ${abbreviate(method)}.`)
      }
    }
  }
}

function initializeResult(requested: unknown): JsonObject {
  const known = typeof requested === 'string' && protocolVersions.includes(requested)
  return {
    protocolVersion: known ? requested : newestVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'vitrine-host-tools', version: '1' },
  }
}

function listing({ tool: { name, description, input } }: OfferedTool): JsonObject {
  return { name, description, inputSchema: input }
}

function unknownTool(name: unknown, known: Iterable<string>): string {
  return `Unknown tool: ${abbreviate(name)}. Expected one of: ${[...known].join(', ') || 'none'}.`
}

function abbreviate(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 100 ? `${text.slice(0, 100)}…` : text
}
