import type { IncomingMessage, ServerResponse } from 'node:http'
import type { JsonObject } from '@vitrine/protocol'
import type { HttpRefusal } from './admission.ts'

/** Time that a rejected client may keep sending before the connection is closed. */
const lingerMs = 1_000

export function reply(
  response: ServerResponse,
  status: number,
  body: JsonObject,
  headers: Readonly<Record<string, string>> = {},
): void {
  replyText(response, status, JSON.stringify(body), 'application/json', headers)
}

/** An empty text has no type. */
export function replyText(
  response: ServerResponse,
  status: number,
  text: string,
  type: string | undefined,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.destroyed || response.headersSent) return
  response.writeHead(status, {
    ...(type !== undefined && { 'content-type': type }),
    'content-length': Buffer.byteLength(text),
    ...headers,
  })
  response.end(text)
}

/** Responds before the whole request is read; closes the connection when it is, or after a time limit. */
export function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers }: HttpRefusal,
  body: JsonObject,
): void {
  if (response.destroyed || response.headersSent) return
  const text = JSON.stringify(body)
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    connection: 'close',
    ...headers,
  })
  response.write(text)
  // Closing with unread input would reset the connection, and the client would lose the response.
  const end = () => {
    clearTimeout(timer)
    response.end()
  }
  const timer = setTimeout(end, lingerMs)
  // A client that sent `Expect: 100-continue` has not sent its body yet.
  if (request.complete || request.headers.expect !== undefined) end()
  else request.once('end', end).once('close', end).resume()
}
