import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { connect, createServer, type Server } from 'node:net'
import type { JsonObject } from '@vitrine/protocol'
import { onTestFinished } from 'vitest'
import type { HostTool } from '../../src/tools/host-tool.ts'
import { type ServedTools, type ServeToolsOptions, serveTools } from '../../src/tools/serve-tools.ts'

/** Listens on the loopback of this machine, like a sandbox without isolation. */
export async function listen(port: number): Promise<Server> {
  const server = createServer()
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return server
}

export const echo: HostTool = {
  name: 'echo',
  description: 'Says the same.',
  input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  run: ({ text }) => text,
}

/** A tool that accepts any input. */
export function tool(name: string, run: HostTool['run']): HostTool {
  return { name, description: `A tool called ${name}.`, input: { type: 'object' }, run }
}

/** Serves tools until the end of the test. */
export async function serve(
  tools: readonly HostTool[],
  options: Partial<ServeToolsOptions> = {},
): Promise<ServedTools> {
  const served = await serveTools({ session: 'ses_test', tools, listen, ...options })
  onTestFinished(() => served.close())
  return served
}

export interface TestResponse {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly text: string
}

export interface TestRequest {
  readonly method?: string
  readonly path?: string
  readonly headers?: Record<string, string>
  readonly body?: string
  readonly signal?: AbortSignal
}

/** Sends an HTTP request, with the valid token unless the headers have another. */
export async function send(to: ServedTools, options: TestRequest = {}): Promise<TestResponse> {
  const { method = 'POST', path = '/mcp', headers = {}, body = '', signal } = options
  const outgoing = request(new URL(path, to.url), {
    method,
    agent: new Agent(),
    headers: {
      authorization: `Bearer ${to.token}`,
      'content-type': 'application/json',
      ...headers,
    },
    ...(signal && { signal }),
  })
  const answered = once(outgoing, 'response')
  outgoing.end(body)
  const [response]: IncomingMessage[] = await answered
  // The rest of a request that is rejected early cannot be written.
  outgoing.on('error', () => undefined)
  const chunks: Buffer[] = []
  for await (const chunk of response!) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString('utf8')
  return { status: response!.statusCode!, headers: response!.headers, text }
}

/** Sends raw bytes and returns everything that is sent back. */
export async function sendRaw(to: ServedTools, bytes: string): Promise<string> {
  const socket = connect(Number(new URL(to.url).port), '127.0.0.1')
  socket.write(bytes)
  let text = ''
  for await (const chunk of socket) text += chunk
  return text
}

/** Sends a JSON-RPC request and returns its response. */
export async function rpc(
  to: ServedTools,
  method: string,
  params: JsonObject = {},
  id: string | number = 1,
): Promise<RpcReply> {
  const { text } = await send(to, { body: JSON.stringify({ jsonrpc: '2.0', id, method, params }) })
  return JSON.parse(text)
}

export interface RpcReply {
  readonly id: string | number | null
  readonly result?: CallResult
  readonly error?: { readonly code: number; readonly message: string }
}

export interface CallResult {
  readonly content: readonly { readonly type: string; readonly text?: string }[]
  readonly isError?: boolean
  readonly [more: string]: unknown
}

export async function call(to: ServedTools, name: string, input: JsonObject = {}): Promise<CallResult> {
  const { result, error } = await rpc(to, 'tools/call', { name, arguments: input })
  if (result === undefined) throw new Error(error?.message)
  return result
}

/** Calls a tool and returns the text of its result. */
export async function callText(to: ServedTools, name: string, input: JsonObject = {}): Promise<string> {
  const { content } = await call(to, name, input)
  return content.map(({ text }) => text).join('')
}

/** A tool that never returns, with promises for its start and its abort. */
export function slowTool() {
  const began = Promise.withResolvers<void>()
  const stopped = Promise.withResolvers<unknown>()
  const slow = tool('slow', (_input, { signal }) => {
    signal.addEventListener('abort', () => stopped.resolve(signal.reason))
    began.resolve()
    return new Promise(() => undefined)
  })
  return { slow, began: began.promise, stopped: stopped.promise }
}
