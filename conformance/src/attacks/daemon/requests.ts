import { request } from 'node:http'
import { connect } from 'node:net'
import type { AttackedDaemon } from '../kit.ts'

/** A problem, an event or a record as it was received. */
// biome-ignore lint/suspicious/noExplicitAny: received JSON is compared, not used.
export type ReceivedJson = any

export interface ReceivedResponse {
  readonly status: number
  readonly headers: Headers
  readonly body: string
  readonly json: ReceivedJson
}

export interface AttackRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

/** Sends a request with exactly these headers. No token is added. */
export async function send(
  { url }: AttackedDaemon,
  path: string,
  { method = 'GET', headers = {}, body }: AttackRequest = {},
): Promise<ReceivedResponse> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const sent = request({
      host: hostname,
      port,
      path,
      method,
      headers,
      agent: false,
      setHost: !('host' in headers),
    })
    sent.once('error', reject)
    sent.once('response', (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      response.once('error', reject)
      response.once('end', () => resolve(responseOf(response.statusCode ?? 0, response.headers, text)))
      // A stream of events does not end by itself.
      if (response.headers['content-type'] === 'text/event-stream') {
        response.destroy()
        resolve(responseOf(response.statusCode ?? 0, response.headers, ''))
      }
    })
    sent.end(body)
  })
}

function responseOf(status: number, headers: NodeJS.Dict<string | string[]>, body: string): ReceivedResponse {
  const entries = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)])
  return {
    status,
    headers: new Headers(entries),
    body,
    get json() {
      return JSON.parse(body)
    },
  }
}

export function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` }
}

/** Sends JSON with the token of full access, and fails if the call does. */
export async function call(
  daemon: AttackedDaemon,
  method: string,
  path: string,
  body?: unknown,
): Promise<ReceivedJson> {
  const headers = { ...bearer(daemon.token), 'content-type': 'application/json' }
  const response = await send(daemon, path, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${response.body}`)
  return response.body === '' ? undefined : response.json
}

/** Writes bytes to a new connection, and returns everything that came back until it was closed. */
export function exchange({ url }: AttackedDaemon, written: string): Promise<string> {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(url)
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(written, 'latin1'))
    let text = ''
    socket.setEncoding('latin1').on('data', (part: string) => {
      text += part
    })
    socket.setTimeout(10_000, () => socket.destroy())
    socket.on('error', () => undefined)
    socket.once('close', () => resolve(text))
  })
}

/** The head of a request for a WebSocket. */
export function upgradeRequest(path: string, lines: readonly string[]): string {
  const head = [
    `GET ${path} HTTP/1.1`,
    'connection: Upgrade',
    'upgrade: websocket',
    'sec-websocket-version: 13',
    'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==',
  ]
  return [...head, ...lines, '', ''].join('\r\n')
}

/** The status of an HTTP response as it was received; 0 if there was none. */
export function statusOf(text: string): number {
  return Number(/^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1] ?? 0)
}
