import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { HttpClient, type HttpClientOptions } from '../src/http/http-client.ts'
import type { Timing } from '../src/http/timing.ts'
import { RemoteSandbox } from '../src/sandbox/remote-sandbox.ts'
import { VitrineClient } from '../src/vitrine-client.ts'

export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** `GET /v1/health` */
  readonly line: string
  readonly query: URLSearchParams
  json(value: unknown, status?: number): void
  problem(code: string, status: number): void
  body(): Promise<Buffer>
}

type ExchangeHandler = (exchange: Exchange) => unknown

export interface Scene {
  readonly wire: HttpClient
  readonly client: VitrineClient
  readonly sandbox: RemoteSandbox
  /** Every request, in order. */
  readonly lines: string[]
  /** The durations of all sleeps, in order; none of them took time. */
  readonly slept: number[]
}

/** A client, and a server on a real socket whose responses the test decides. */
export async function newScene(
  handle: ExchangeHandler,
  options: Partial<HttpClientOptions> & Partial<Timing> = {},
): Promise<Scene> {
  const lines: string[] = []
  const slept: number[] = []
  const server = createServer((request, response) => {
    const exchange = exchangeOf(request, response)
    lines.push(exchange.line)
    void handle(exchange)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const { idleMs = 25_000, cancelMs = 5_000, sleep, ...rest } = options
  const timing: Timing = {
    idleMs,
    cancelMs,
    sleep:
      sleep ??
      (async (milliseconds) => {
        slept.push(milliseconds)
        await new Promise(setImmediate)
      }),
  }
  const wire = new HttpClient({ url: `http://127.0.0.1:${port}`, ...rest }, timing)
  onTestFinished(async () => {
    wire.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const sandbox = new RemoteSandbox(wire.newHandle().at('sandboxes', 'sbx_1'), description)
  return { wire, client: new VitrineClient(wire), sandbox, lines, slept }
}

export const description = {
  id: 'sbx_1',
  provider: 'local',
  labels: {},
  createdAt: '2026-01-01T00:00:00.000Z',
  state: 'running',
  root: '/workspace',
  capabilities: {
    commands: true,
    files: true,
    isolation: 'none',
    killTree: 'complete',
    network: [],
    limits: [],
    terminals: true,
    pause: 'none',
    watching: 'none',
    users: false,
    snapshots: false,
  },
} as const

function exchangeOf(request: IncomingMessage, response: ServerResponse): Exchange {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://x')
  const json = (value: unknown, status = 200, type = 'application/json') => {
    response.writeHead(status, { 'content-type': type }).end(JSON.stringify(value))
  }
  return {
    request,
    response,
    line: `${request.method} ${pathname}`,
    query: searchParams,
    json,
    problem: (code, status) =>
      json({ code, status, detail: `It is ${code}.` }, status, 'application/problem+json'),
    async body() {
      const parts: Buffer[] = []
      for await (const part of request) parts.push(part)
      return Buffer.concat(parts)
    },
  }
}
