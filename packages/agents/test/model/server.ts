import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Dialect, ReplyContext } from './dialects/dialect.ts'
import { dialects } from './dialects/dialects.ts'
import { findMark } from './mark.ts'
import { metadata } from './metadata.ts'
import { type ModelReply, replyTo } from './reply.ts'
import { type ModelRequest, requestLog } from './request-log.ts'
import { tokens, usageOf } from './usage.ts'

export interface ModelServer {
  /** Base URL such as `http://127.0.0.1:18080`, without the path of a dialect. */
  readonly url: string
  readonly port: number
  /** The last thousand requests, oldest first. */
  readonly requests: readonly ModelRequest[]
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

type AddRequest = (request: ModelRequest) => void

/**
 * A model server for tests of real agents. It implements the APIs of four providers; marks in the last message of the
 * user control its replies (see `mark.ts`). Why it is not a library: `docs/decisions/003-model-server-of-tests.md`.
 *
 * @example
 * await using model = await startModelServer()
 * // ANTHROPIC_BASE_URL=model.url, prompt 'say:banana' → "I say banana."
 */
export async function startModelServer({ port = 0, host = '127.0.0.1' } = {}): Promise<ModelServer> {
  const { requests, add } = requestLog()
  const server = createServer((request, response) => {
    if (request.url === '/requests') return send(response, 200, requests)
    handle(request, response, add).catch((error: unknown) => response.destroy(error as Error))
  })
  server.listen(port, host)
  await once(server, 'listening')
  // A TCP server's address has a port.
  const { port: bound } = server.address() as AddressInfo
  const close = async () => {
    if (!server.listening) return
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  }
  return {
    url: `http://${host}:${bound}`,
    port: bound,
    requests,
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function handle(request: IncomingMessage, response: ServerResponse, add: AddRequest) {
  const url = new URL(request.url ?? '/', 'http://model')
  const body = await text(request)
  const method = request.method ?? 'GET'
  const dialect = method === 'POST' ? dialects.find((each) => each.purpose(url)) : undefined
  const about = { method, path: url.pathname + url.search, ...keyOf(request, url) }
  if (dialect?.purpose(url) === 'answer') return respond(dialect, { url, body, about, response, add })
  add({
    dialect: dialect?.name ?? 'other',
    ...about,
    stream: false,
    tools: [],
    earlier: '',
    prompt: '',
    results: 0,
  })
  send(response, 200, dialect ? dialect.count(tokens(body)) : metadata(url))
}

interface ModelCall {
  readonly url: URL
  readonly body: string
  readonly about: Pick<ModelRequest, 'method' | 'path' | 'key'>
  readonly response: ServerResponse
  readonly add: AddRequest
}

async function respond(dialect: Dialect, { url, body, about, response, add }: ModelCall) {
  const ask = parse(dialect, body, url)
  if (ask instanceof Error) return send(response, 400, dialect.refuse({ status: 400, message: ask.message }))
  const mark = findMark(ask.prompt)
  add({
    dialect: dialect.name,
    ...about,
    stream: ask.stream,
    tools: ask.tools.map(({ name }) => name),
    earlier: ask.earlier,
    prompt: ask.prompt,
    ...(mark && { mark }),
    results: ask.results.length,
  })
  const reply = replyTo(ask, mark)
  if ('status' in reply) return send(response, reply.status, dialect.refuse(reply))
  const context = { ask, usage: usageOf(body, reply), id: randomUUID().replaceAll('-', '') }
  if (!ask.stream) return send(response, 200, dialect.whole(reply, context))
  await stream(dialect, reply, context, response)
}

function parse(dialect: Dialect, body: string, url: URL) {
  try {
    return dialect.read(JSON.parse(body), url)
  } catch (error) {
    return error as Error
  }
}

async function stream(dialect: Dialect, reply: ModelReply, context: ReplyContext, response: ServerResponse) {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  for (const piece of dialect.stream(reply, context)) {
    if (response.destroyed) return
    response.write(piece)
    if (reply.pauseMs > 0) await sleep(reply.pauseMs)
  }
  response.end()
}

function send(response: ServerResponse, status: number, body: unknown) {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

function keyOf({ headers }: IncomingMessage, url: URL): { key?: string } {
  const key =
    headers['x-api-key'] ??
    headers['x-goog-api-key'] ??
    headers.authorization?.replace(/^Bearer /i, '') ??
    url.searchParams.get('key')
  return typeof key === 'string' ? { key } : {}
}
