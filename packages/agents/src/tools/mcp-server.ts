import {
  createMcpHandler,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  isLegacyRequest,
  LATEST_PROTOCOL_VERSION,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import type { JsonObject, JsonValue } from '@vitrine/protocol'
import type { ToolCalls } from './calls.ts'
import type { OfferedTool } from './host-tool.ts'
import { isJsonObject, rpcError } from './rpc-error.ts'

/** The tools and running calls of an MCP server that offers only tools. */
export interface ToolProtocol {
  readonly tools: ReadonlyMap<string, OfferedTool>
  readonly calls: ToolCalls
}

/** The client that sent a message, and the HTTP headers that the protocol defines. */
export interface MessageSender {
  /** MCP session id; empty for a client that sends none. */
  readonly client: string
  /** Aborted when the client has disconnected. */
  readonly disconnected: AbortSignal
  readonly headers: Readonly<Record<string, string>>
  /** Batches exist only in old revisions of the protocol. */
  readonly batch: boolean
}

/**
 * Responds to one JSON-RPC message of any revision that the library serves. Each message gets a server of its own: the
 * state that outlasts a message is in `calls`.
 */
export async function respondTo(
  protocol: ToolProtocol,
  message: JsonValue,
  sender: MessageSender,
): Promise<Response> {
  if (!isJsonObject(message) || !isMessage(message)) return invalidMessage(message)
  const initializes = message.method === 'initialize'
  const parsedBody = initializes ? withDefaults(message) : message
  const request = requestOf(sender, initializes)
  const serve = () => serverFor(protocol, message, sender)
  if (sender.batch || (await isLegacyRequest(request, parsedBody))) {
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
    await serve().connect(transport)
    return await transport.handleRequest(request, { parsedBody })
  }
  return await createMcpHandler(serve, { legacy: 'reject' }).fetch(request, { parsedBody })
}

function serverFor({ tools, calls }: ToolProtocol, message: JsonObject, sender: MessageSender): Server {
  const server = new Server(
    { name: 'vitrine-host-tools', version: '1' },
    { capabilities: { tools: {} }, jsonSchemaValidator: unusedValidator },
  )
  server.setRequestHandler('tools/list', () => ({ tools: [...tools.values()].map(listing) }))
  // The library would match a cancellation only with the requests of the same server.
  server.setNotificationHandler('notifications/cancelled', ({ params: { requestId } }) => {
    if (requestId !== undefined) calls.cancel(sender.client, requestId)
  })
  // Not `setRequestHandler`: its schema responds to wrong arguments with a protocol error, which the model never sees.
  if (message.method === 'tools/call')
    server.fallbackRequestHandler = async ({ id, params = {} }) => {
      const { name, arguments: given = {} } = params
      const offered = typeof name === 'string' ? tools.get(name) : undefined
      if (offered === undefined)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, unknownTool(name, tools.keys()))
      return calls.call(offered, given, { client: sender.client, disconnected: sender.disconnected, id })
    }
  return server
}

/** Only elicitation uses the validator; the default one compiles its rules in every server. */
const unusedValidator = {
  getValidator() {
    throw new Error('Host tools ask no questions.')
  },
}

/** The request without its body; it is never aborted, so that a call's end is recorded before the response. */
function requestOf({ headers }: MessageSender, initializes: boolean): Request {
  const { 'mcp-protocol-version': version, ...rest } = headers
  return new Request('http://127.0.0.1/', {
    method: 'POST',
    headers: {
      ...rest,
      // `initialize` negotiates the version in its body.
      ...(version !== undefined && !initializes && { 'mcp-protocol-version': version }),
      'content-type': 'application/json',
      // Responses are JSON for every client; the library rejects clients that do not accept both.
      accept: 'application/json, text/event-stream',
    },
  })
}

/** Completes `initialize` for clients that leave out required fields. */
function withDefaults(message: JsonObject): JsonObject {
  const { protocolVersion, capabilities, clientInfo, ...rest } = isJsonObject(message.params)
    ? message.params
    : {}
  const params = {
    ...rest,
    protocolVersion: typeof protocolVersion === 'string' ? protocolVersion : LATEST_PROTOCOL_VERSION,
    capabilities: isJsonObject(capabilities) ? capabilities : {},
    clientInfo: isJsonObject(clientInfo)
      ? { name: '', version: '', ...clientInfo }
      : { name: '', version: '' },
  }
  return { ...message, params }
}

function isMessage(message: JsonObject): boolean {
  return isJSONRPCRequest(message) || isJSONRPCNotification(message) || isJSONRPCResponse(message)
}

function invalidMessage(message: JsonValue): Response {
  const id = isJsonObject(message) ? message.id : undefined
  const known = typeof id === 'string' || typeof id === 'number' ? id : null
  const why = 'Invalid request: expected a JSON-RPC 2.0 message with a method, and params that are an object.'
  return Response.json(rpcError(known, ProtocolErrorCode.InvalidRequest, why), { status: 400 })
}

function listing({ tool: { name, description, input } }: OfferedTool) {
  // `offerTools` has checked that the schema is of an object.
  return { name, description, inputSchema: input as JsonObject & { type: 'object' } }
}

function unknownTool(name: unknown, known: Iterable<string>): string {
  return `Unknown tool: ${abbreviate(name)}. Expected one of: ${[...known].join(', ') || 'none'}.`
}

function abbreviate(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 100 ? `${text.slice(0, 100)}…` : text
}
