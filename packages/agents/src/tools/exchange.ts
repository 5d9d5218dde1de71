import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { JsonValue } from '@vitrine/protocol'
import type { admission, Refusal } from './admission.ts'
import { type Holding, readBody } from './body.ts'
import { type RpcMessage, readMessage, rpcError, rpcErrors } from './json-rpc.ts'
import type { ToolLimits } from './limits.ts'
import { answerMessage, protocolVersions, type ToolProtocol } from './protocol.ts'
import { refuse, reply } from './reply.ts'

/** What every request to one server of tools has in common. */
export interface Service {
  readonly protocol: ToolProtocol
  readonly admit: ReturnType<typeof admission>
  readonly limits: Required<ToolLimits>
  readonly holding: Holding
  /** Aborted when the server closes. */
  readonly closing: AbortSignal
}

/** One request and its answer. Rejects when the sender went away before it had said all. */
export async function exchange(
  service: Service,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { admit, limits, holding, closing } = service
  const reject = (refusal: Refusal) =>
    refuse(request, response, refusal, rpcError(null, rpcErrors.refused, refusal.message))
  const refusal = admit(request)
  if (refusal !== undefined) return reject(refusal)
  const body = await readBody(request, response, limits, holding, closing)
  if (!body.ok) return reject(body.refusal)
  // Silence is not idleness as long as something runs.
  request.socket.setTimeout(0)
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  if (request.socket.destroyed) gone.abort()
  try {
    await answer(service, request, response, body.text, gone.signal)
  } finally {
    body.release()
    // From here on it is the client that has to take the answer.
    request.socket.setTimeout(limits.idleMs)
  }
}

async function answer(
  { protocol, limits }: Service,
  request: IncomingMessage,
  response: ServerResponse,
  text: string,
  gone: AbortSignal,
): Promise<void> {
  const parsed = parse(text)
  if (parsed === undefined)
    return reply(response, 400, rpcError(null, rpcErrors.parse, 'Expected JSON, got something else.'))
  const batch = Array.isArray(parsed.value)
  const values: readonly JsonValue[] = Array.isArray(parsed.value) ? parsed.value : [parsed.value]
  if (values.length === 0 || values.length > limits.batch) {
    const message = `Expected 1 to ${limits.batch} messages, got ${values.length}.`
    return reply(response, 400, rpcError(null, rpcErrors.invalidRequest, message))
  }
  const messages = values.map(readMessage)
  const greets = messages.some(isGreeting)
  const version = headerOf(request, 'mcp-protocol-version')
  if (!greets && version !== undefined && !protocolVersions.includes(version)) {
    const message = `Expected a protocol version of ${protocolVersions.join(', ')}.`
    return reply(response, 400, rpcError(null, rpcErrors.refused, message))
  }
  const sender = { client: headerOf(request, 'mcp-session-id') ?? '', gone }
  const answers = (
    await Promise.all(messages.map((message) => answerMessage(protocol, message, sender)))
  ).filter((message) => message !== undefined)
  // Keeps apart the requests of clients that count alike; nothing else hangs on it.
  const headers = greets ? { 'mcp-session-id': randomUUID() } : {}
  if (answers.length === 0) return reply(response, 202, undefined, headers)
  const body: JsonValue | undefined = batch ? answers : answers[0]
  reply(response, isRefusal(messages, batch) ? 400 : 200, body, headers)
}

function parse(text: string): { readonly value: JsonValue } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

function isGreeting(message: RpcMessage): boolean {
  return message.kind === 'request' && message.method === 'initialize'
}

/** Some clients look no further than the status. */
function isRefusal(messages: readonly RpcMessage[], batch: boolean): boolean {
  return !batch && messages[0]?.kind === 'invalid'
}

function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}

/** Tells that there will be no answer, without the reasons of the host. */
export function giveUp({ closing }: Service, response: ServerResponse): void {
  const [status, message] = closing.aborted
    ? ([503, 'The session was closed.'] as const)
    : ([500, 'The host failed to answer.'] as const)
  reply(response, status, rpcError(null, rpcErrors.internal, message), { connection: 'close' })
}
