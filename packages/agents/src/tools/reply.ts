import type { IncomingMessage, ServerResponse } from 'node:http'
import type { JsonObject, JsonValue } from '@vitrine/protocol'
import type { Refusal } from './admission.ts'

/** How long a sender that is refused may go on before it is cut off. */
const lingerMs = 1_000

export function reply(
  response: ServerResponse,
  status: number,
  body: JsonValue | undefined,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.destroyed || response.headersSent) return
  const text = body === undefined ? '' : JSON.stringify(body)
  response.writeHead(status, {
    ...(body !== undefined && { 'content-type': 'application/json' }),
    'content-length': Buffer.byteLength(text),
    ...headers,
  })
  response.end(text)
}

/** Answers before the whole request was read, and ends the connection once it was or has taken too long. */
export function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers }: Refusal,
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
  // Ended with unread input, the connection would be reset and the answer lost with it.
  const end = () => {
    clearTimeout(timer)
    response.end()
  }
  const timer = setTimeout(end, lingerMs)
  // Nothing is on its way from whoever asked first.
  if (request.complete || request.headers.expect !== undefined) end()
  else request.once('end', end).once('close', end).resume()
}
