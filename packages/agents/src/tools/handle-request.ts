import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { JsonValue } from '@vitrine/protocol'
import type { admission, HttpRefusal } from './admission.ts'
import { type BodyMemory, readBody } from './body.ts'
import type { ToolLimits } from './limits.ts'
import type { ToolProtocol } from './mcp-server.ts'
import { refuse, reply, replyText } from './reply.ts'
import { isJsonObject, rpcError, rpcErrors } from './rpc-error.ts'

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
  const messages: readonly JsonValue[] = Array.isArray(parsed.value) ? parsed.value : [parsed.value]
  if (messages.length === 0 || messages.length > limits.batch) {
    const message = `Expected 1 to ${limits.batch} messages, got ${messages.length}.`
    return reply(response, 400, rpcError(null, rpcErrors.invalidRequest, message))
  }
  const headers = protocolHeaders(request)
  const sender = { client: headerOf(request, 'mcp-session-id') ?? '', disconnected, headers, batch }
  // Loaded with the first request, because a host without tools does not need it.
  const { respondTo } = await import('./mcp-server.ts')
  const responses = await Promise.all(messages.map((message) => respondTo(protocol, message, sender)))
  const texts = await Promise.all(responses.map((part) => part.text()))
  // Distinguishes clients that use the same request ids; the id has no other use.
  const more = messages.some(isInitialize) ? { 'mcp-session-id': randomUUID() } : {}
  const refused = responses.every(({ status }) => status >= 400)
  const [first] = responses
  if (!batch || refused) return replyText(response, first?.status ?? 500, texts[0] ?? '', typeOf(first), more)
  const parts = texts.filter((part) => part !== '')
  if (parts.length === 0) return replyText(response, 202, '', undefined, more)
  replyText(response, 200, `[${parts.join(',')}]`, 'application/json', more)
}

function parse(text: string): { readonly value: JsonValue } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

function isInitialize(message: JsonValue): boolean {
  return isJsonObject(message) && message.method === 'initialize'
}

/** The headers with which a client repeats what its message says. */
function protocolHeaders(request: IncomingMessage): Record<string, string> {
  const names = ['mcp-protocol-version', 'mcp-method', 'mcp-name']
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = headerOf(request, name)
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}

function typeOf(response: Response | undefined): string | undefined {
  return response?.headers.get('content-type') ?? undefined
}

/** Sends an error response without internal details of the host. */
export function respondWithFailure({ closing }: ToolService, response: ServerResponse): void {
  const [status, message] = closing.aborted
    ? ([503, 'The session was closed.'] as const)
    : ([500, 'The host failed to handle the request.'] as const)
  reply(response, status, rpcError(null, rpcErrors.internal, message), { connection: 'close' })
}
