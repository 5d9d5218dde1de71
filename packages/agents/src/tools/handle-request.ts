import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { JsonValue } from '@vitrine/protocol'
import type { admission, HttpRefusal } from './admission.ts'
import { type BodyMemory, readBody } from './body.ts'
import { type RpcMessage, readMessage, rpcError, rpcErrors } from './json-rpc.ts'
import type { ToolLimits } from './limits.ts'
import { protocolVersions, respondTo, type ToolProtocol } from './protocol.ts'
import { refuse, reply } from './reply.ts'

/** The state that all requests to one tool server share. */
export interface ToolService {
  readonly protocol: ToolProtocol
  readonly admit: ReturnType<typeof admission>
  readonly limits: Required<ToolLimits>
  readonly memory: BodyMemory
  /** Aborted when the server closes. */
  readonly closing: AbortSignal
}

/** Handles one HTTP request. Rejects when the client disconnects before its body is complete. */
export async function handleRequest(
  service: ToolService,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { admit, limits, memory, closing } = service
  const reject = (refusal: HttpRefusal) =>
    refuse(request, response, refusal, rpcError(null, rpcErrors.refused, refusal.message))
  const refusal = admit(request)
  if (refusal !== undefined) return reject(refusal)
  const body = await readBody(request, response, limits, memory, closing)
  if (!body.ok) return reject(body.refusal)
  // No idle timeout while calls run.
  request.socket.setTimeout(0)
  const disconnected = new AbortController()
  response.once('close', () => disconnected.abort())
  if (request.socket.destroyed) disconnected.abort()
  try {
    await respond(service, request, response, body.text, disconnected.signal)
  } finally {
    body.release()
    // From here on the idle timeout applies to the client reading the response.
    request.socket.setTimeout(limits.idleMs)
  }
}

async function respond(
  { protocol, limits }: ToolService,
  request: IncomingMessage,
  response: ServerResponse,
  text: string,
  disconnected: AbortSignal,
): Promise<void> {
  const parsed = parse(text)
  if (parsed === undefined)
    return reply(response, 400, rpcError(null, rpcErrors.parse, 'Expected a JSON body.'))
  const batch = Array.isArray(parsed.value)
  const values: readonly JsonValue[] = Array.isArray(parsed.value) ? parsed.value : [parsed.value]
  if (values.length === 0 || values.length > limits.batch) {
    const message = `Expected 1 to ${limits.batch} messages, got ${values.length}.`
    return reply(response, 400, rpcError(null, rpcErrors.invalidRequest, message))
  }
  const messages = values.map(readMessage)
  const initializes = messages.some(isInitialize)
  const version = headerOf(request, 'mcp-protocol-version')
  if (!initializes && version !== undefined && !protocolVersions.includes(version)) {
    const message = `Expected a protocol version of ${protocolVersions.join(', ')}.`
    return reply(response, 400, rpcError(null, rpcErrors.refused, message))
  }
  const sender = { client: headerOf(request, 'mcp-session-id') ?? '', disconnected }
  const responses = (
    await Promise.all(messages.map((message) => respondTo(protocol, message, sender)))
  ).filter((message) => message !== undefined)
  // Distinguishes clients that use the same request ids; the id has no other use.
  const headers = initializes ? { 'mcp-session-id': randomUUID() } : {}
  if (responses.length === 0) return reply(response, 202, undefined, headers)
  const body: JsonValue | undefined = batch ? responses : responses[0]
  reply(response, isInvalidRequest(messages, batch) ? 400 : 200, body, headers)
}

function parse(text: string): { readonly value: JsonValue } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

function isInitialize(message: RpcMessage): boolean {
  return message.kind === 'request' && message.method === 'initialize'
}

/** Whether to respond with status 400: some clients look only at the status. */
function isInvalidRequest(messages: readonly RpcMessage[], batch: boolean): boolean {
  return !batch && messages[0]?.kind === 'invalid'
}

function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}

/** Sends an error response without internal details of the host. */
export function respondWithFailure({ closing }: ToolService, response: ServerResponse): void {
  const [status, message] = closing.aborted
    ? ([503, 'The session was closed.'] as const)
    : ([500, 'The host failed to handle the request.'] as const)
  reply(response, status, rpcError(null, rpcErrors.internal, message), { connection: 'close' })
}
