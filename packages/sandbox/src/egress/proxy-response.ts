import { type ServerResponse, STATUS_CODES } from 'node:http'

/** What the proxy itself says to a program in the sandbox. */
export interface ProxyResponse {
  readonly status: 400 | 403 | 431 | 502 | 503
  readonly text: string
}

/** A sentence about what was asked for, harmless on a terminal. */
export function answer(
  status: ProxyResponse['status'],
  asked: string,
  sentence: string,
  advice = '',
): ProxyResponse {
  const shown = JSON.stringify(asked.replace(/[^\x21-\x7e]/g, '?'))
  return { status, text: `Vitrine: ${shown}: ${sentence}.\n${advice && `${advice}\n`}` }
}

/** For a connection that no longer is, or never was, one of HTTP messages. */
export function rawAnswer({ status, text }: ProxyResponse): string {
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(text)}`,
    'Connection: close',
    '',
    text,
  ].join('\r\n')
}

export function sendAnswer(response: ServerResponse, { status, text }: ProxyResponse): void {
  // After a request that was not understood, nobody knows where the next one begins.
  if (status === 400 || status === 503) response.setHeader('Connection', 'close')
  response.writeHead(status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
  })
  response.end(text)
}
