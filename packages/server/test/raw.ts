import { connect, type Socket } from 'node:net'
import { checkJson } from './contract/contract.ts'

/** A connection as it is: what is written, and everything that came back when it was closed. */
export interface RawConnection extends Disposable {
  readonly socket: Socket
  /** Everything up to now. */
  readonly text: string
  /** Everything, once the other side has closed. */
  readonly ended: Promise<string>
}

export async function dial(
  port: number,
  written: string | Uint8Array = '',
  { allowHalfOpen = false } = {},
): Promise<RawConnection> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen })
  let text = ''
  socket.setEncoding('latin1')
  socket.on('data', (part: string) => {
    text += part
  })
  socket.on('error', () => undefined)
  const ended = new Promise<string>((resolve) => socket.once('close', () => resolve(text)))
  await new Promise<void>((resolve) => socket.once('connect', resolve))
  socket.write(written)
  return {
    socket,
    get text() {
      return text
    },
    ended,
    [Symbol.dispose]: () => socket.destroy(),
  }
}

/** Sends one request verbatim; returns the response when the connection is closed. */
export async function say(port: number, head: string, body = ''): Promise<RawResponse> {
  using connection = await dial(port, `${head}\r\nconnection: close\r\n\r\n${body}`)
  const response = readResponse(await connection.ended)
  checkRaw(head, response)
  return response
}

/** JSON below `/v1` must be as its route says. */
function checkRaw(head: string, { status, headers, body }: RawResponse): void {
  const [method = '', target = ''] = head.split(' ', 2)
  const [path = ''] = target.split('?')
  const isJson = /^application\/(problem\+)?json$/.test(headers.get('content-type') ?? '')
  if (isJson && path.startsWith('/v1/')) checkJson({ method, path }, status, JSON.parse(body))
}

export interface RawResponse {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

export function readResponse(text: string): RawResponse {
  const at = text.indexOf('\r\n\r\n')
  const [first = '', ...lines] = text.slice(0, at).split('\r\n')
  const headers = new Headers(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon), line.slice(colon + 1).trim()]
    }),
  )
  return { status: Number(first.split(' ')[1]), headers, body: text.slice(at + 4) }
}
