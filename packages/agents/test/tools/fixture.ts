import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { connect, createServer, type Server } from 'node:net'
import type { JsonObject } from '@vitrine/protocol'
import { onTestFinished } from 'vitest'
import type { HostTool } from '../../src/tools/host-tool.ts'
import { type ServedTools, type ServeToolsOptions, serveTools } from '../../src/tools/serve-tools.ts'

/** A port of this machine's own loopback, as a sandbox without isolation has it. */
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

/** A tool that takes whatever comes. */
export function tool(name: string, run: HostTool['run']): HostTool {
  return { name, description: `A tool called ${name}.`, input: { type: 'object' }, run }
}

/** Served for as long as the test runs. */
export async function served(
  tools: readonly HostTool[],
  options: Partial<ServeToolsOptions> = {},
): Promise<ServedTools> {
  const tooled = await serveTools({ session: 'ses_test', tools, listen, ...options })
  onTestFinished(() => tooled.close())
  return tooled
}

export interface Heard {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly text: string
}

export interface Sending {
  readonly method?: string
  readonly path?: string
  readonly headers?: Record<string, string>
  readonly body?: string
  readonly signal?: AbortSignal
}

/** One HTTP request, with the right token unless it is given another. */
export async function send(to: ServedTools, sending: Sending = {}): Promise<Heard> {
  const { method = 'POST', path = '/mcp', headers = {}, body = '', signal } = sending
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
  // What is left of a request that is refused midway cannot be written.
  outgoing.on('error', () => undefined)
  const chunks: Buffer[] = []
  for await (const chunk of response!) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString('utf8')
  return { status: response!.statusCode!, headers: response!.headers, text }
}

/** Everything that comes back for these very bytes. */
export async function sendRaw(to: ServedTools, bytes: string): Promise<string> {
  const socket = connect(Number(new URL(to.url).port), '127.0.0.1')
  socket.write(bytes)
  let text = ''
  for await (const chunk of socket) text += chunk
  return text
}

/** One JSON-RPC message and what is answered to it. */
export async function ask(
  to: ServedTools,
  method: string,
  params: JsonObject = {},
  id: string | number = 1,
): Promise<Reply> {
  const { text } = await send(to, { body: JSON.stringify({ jsonrpc: '2.0', id, method, params }) })
  return JSON.parse(text)
}

export interface Reply {
  readonly id: string | number | null
  readonly result?: Result
  readonly error?: { readonly code: number; readonly message: string }
}

export interface Result {
  readonly content: readonly { readonly type: string; readonly text?: string }[]
  readonly isError?: boolean
  readonly [more: string]: unknown
}

export async function call(to: ServedTools, name: string, input: JsonObject = {}): Promise<Result> {
  const { result, error } = await ask(to, 'tools/call', { name, arguments: input })
  if (result === undefined) throw new Error(error?.message)
  return result
}

/** The text of a result that is one text. */
export async function said(to: ServedTools, name: string, input: JsonObject = {}): Promise<string> {
  const { content } = await call(to, name, input)
  return content.map(({ text }) => text).join('')
}

/** A tool that runs until it is told to stop, and how it is doing. */
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
