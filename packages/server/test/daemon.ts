import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { basename } from 'node:path'
import { type Host, type OpenHostOptions, openHost } from '@vitrine/host'
import { expect } from 'vitest'
import {
  createServer,
  type Listening,
  type ListenOptions,
  listen,
  type Server,
  type ServerOptions,
} from '../src/index.ts'
import { checkedFetch } from './contract/checked-fetch.ts'

export const token = 'full-token-8d1f0c6b72a94e53'
export const readToken = 'read-token-5a2e9b7c41d80f36'

export interface DaemonOptions extends Partial<Omit<ServerOptions, 'host'>> {
  /** Of an earlier daemon; a new one otherwise, which is gone in the end. */
  readonly data?: string
  readonly host?: OpenHostOptions
  readonly listen?: ListenOptions
}

export interface TestDaemon extends AsyncDisposable {
  readonly url: string
  readonly port: number
  readonly token: string
  readonly readToken: string
  readonly host: Host
  readonly server: Server
  readonly listening: Listening
  /** The default sandbox's, which is there. */
  readonly sandbox: string
  readonly data: string
  /** With the token of full access, unless `headers` say otherwise; it rejects what is not as the contract says. */
  fetch(path: string, init?: RequestInit): Promise<Response>
  /** Sends and receives JSON; an unsuccessful response fails the test. */
  call<T = ResponseJson>(method: string, path: string, body?: unknown): Promise<T>
  close(): Promise<void>
}

// biome-ignore lint/suspicious/noExplicitAny: received JSON is compared, not used.
export type ResponseJson = any

/** A host, a server and a port, with one sandbox that is ready; nothing is left of one that could not be opened. */
export async function openDaemon(options: DaemonOptions = {}): Promise<TestDaemon> {
  await using failed = new AsyncDisposableStack()
  const daemon = await assemble(options, failed)
  failed.move()
  return daemon
}

async function assemble(options: DaemonOptions, failed: AsyncDisposableStack): Promise<TestDaemon> {
  const { data = dataFolder(), host: hostOptions, listen: listenOptions, ...serverOptions } = options
  if (options.data === undefined) failed.defer(() => rmSync(data, { recursive: true, force: true }))
  const sandbox = options.defaultSandbox?.id ?? basename(data)
  const host = await openHost({ data, install: 'never', ...hostOptions })
  failed.use(host)
  const server = createServer({
    host,
    tokens: [
      { name: 'alice', token, access: 'full' },
      { name: 'viewer', token: readToken, access: 'read' },
    ],
    defaultSandbox: { id: sandbox, local: { isolation: 'none' } },
    ...serverOptions,
  })
  const listening = await listen(server, listenOptions)
  failed.use(listening)
  const { url, port } = listening
  const request = (path: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers)
    if (!headers.has('authorization')) headers.set('authorization', `Bearer ${token}`)
    return checkedFetch(`${url}${path}`, { ...init, headers })
  }
  const call = async (method: string, path: string, body?: unknown) => {
    const response = await request(path, { method, ...(body !== undefined && jsonBody(body)) })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }
  const close = async () => {
    await listening.close()
    await host.close()
    if (options.data === undefined) rmSync(data, { recursive: true, force: true })
  }
  await call('POST', `/v1/sandboxes/${sandbox}/attach`)
  return {
    ...{ url, port, token, readToken, host, server, listening, sandbox, data },
    fetch: request,
    call,
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Not below /tmp: a sandbox has a /tmp of its own. */
export function dataFolder(): string {
  const data = mkdtempSync('/var/tmp/vitrine-server-')
  chmodSync(data, 0o711)
  return data
}

export function jsonBody(body: unknown): { body: string; headers: Record<string, string> } {
  return { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
}

export function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` }
}

/** Every error is one: a status, a code, and what to do. */
export async function problemOf(response: Response): Promise<ResponseJson> {
  expect(response.headers.get('content-type')).toBe('application/problem+json')
  expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  const problem = await response.json()
  expect(problem).toMatchObject({
    status: response.status,
    code: expect.stringMatching(/^[a-z_]+$/),
    detail: expect.any(String),
    hint: expect.stringMatching(/\w/),
  })
  return problem
}

/** The events of a page, all pages of it. */
export async function allEvents(daemon: TestDaemon, query = ''): Promise<ResponseJson[]> {
  const events: ResponseJson[] = []
  for (let after = ''; ; ) {
    const page = await daemon.call('GET', `/v1/events?limit=1000${query}${after && `&after=${after}`}`)
    events.push(...page.events)
    if (page.end) return events
    after = encodeURIComponent(page.cursor)
  }
}
