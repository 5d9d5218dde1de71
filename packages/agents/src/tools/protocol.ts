import type { JsonObject } from '@vitrine/protocol'
import type { ToolCalls } from './calls.ts'
import type { OfferedTool } from './host-tool.ts'
import { type RpcMessage, rpcError, rpcErrors, rpcResult } from './json-rpc.ts'

/** The revisions of the Model Context Protocol that this speaks, the oldest first. */
export const protocolVersions: readonly string[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']

const newestVersion = '2025-11-25'

/** The part of the Model Context Protocol that a server with nothing but tools has. */
export interface ToolProtocol {
  readonly tools: ReadonlyMap<string, OfferedTool>
  readonly calls: ToolCalls
}

/** Where a message came from. */
export interface Sender {
  /** Empty for a client that keeps no session. */
  readonly client: string
  readonly gone: AbortSignal
}

/** The answer to one message; nothing for what is not a question. */
export async function answerMessage(
  { tools, calls }: ToolProtocol,
  message: RpcMessage,
  sender: Sender,
): Promise<JsonObject | undefined> {
  switch (message.kind) {
    case 'response':
      return undefined
    case 'invalid':
      return rpcError(message.id, rpcErrors.invalidRequest, message.why)
    case 'notification': {
      const id = message.params.requestId
      const names = typeof id === 'string' || typeof id === 'number'
      if (message.method === 'notifications/cancelled' && names) calls.cancel(sender.client, id)
      return undefined
    }
    case 'request': {
      const { id, method, params } = message
      switch (method) {
        case 'initialize':
          return rpcResult(id, greeting(params.protocolVersion))
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
          return rpcError(id, rpcErrors.methodNotFound, `Unknown method: ${shortly(method)}.`)
      }
    }
  }
}

function greeting(asked: unknown): JsonObject {
  const known = typeof asked === 'string' && protocolVersions.includes(asked)
  return {
    protocolVersion: known ? asked : newestVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'vitrine-host-tools', version: '1' },
  }
}

function listing({ tool: { name, description, input } }: OfferedTool): JsonObject {
  return { name, description, inputSchema: input }
}

function unknownTool(name: unknown, known: Iterable<string>): string {
  return `Unknown tool: ${shortly(name)}. Expected one of: ${[...known].join(', ') || 'none'}.`
}

function shortly(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 100 ? `${text.slice(0, 100)}…` : text
}
