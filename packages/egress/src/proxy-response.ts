import { type ServerResponse, STATUS_CODES } from 'node:http'

/** A response that the proxy itself sends to a program in the sandbox. */
export interface ProxyResponse {
  readonly status: 400 | 403 | 431 | 502 | 503
  readonly text: string
}

/** Builds a response about a requested target. Its text is safe to print on a terminal. */
export function proxyResponse(
  status: ProxyResponse['status'],
  requested: string,
  sentence: string,
  advice = '',
): ProxyResponse {
  const printable = JSON.stringify(requested.replace(/[^\x21-\x7e]/g, '?'))
  return { status, text: `Vitrine: ${printable}: ${sentence}.\n${advice && `${advice}\n`}` }
}

/** Serialises a response for a connection that Node's HTTP server no longer handles. */
export function rawResponse({ status, text }: ProxyResponse): string {
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(text)}`,
    'Connection: close',
    '',
    text,
  ].join('\r\n')
}

export function sendResponse(response: ServerResponse, { status, text }: ProxyResponse): void {
  // After an invalid request, the position of the next one is unknown.
  if (status === 400 || status === 503) response.setHeader('Connection', 'close')
  response.writeHead(status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
  })
  response.end(text)
}
