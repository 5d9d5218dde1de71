import type { IncomingMessage } from 'node:http'
import { type Duplex, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type PortAddress, VitrineError } from '@vitrine/protocol'
import type { Daemon } from '../daemon/daemon.ts'
import type { PreviewTarget } from '../daemon/previews.ts'
import { closingParts } from '../http/body.ts'
import { http } from '../http/http.ts'
import type { HttpRequest } from '../http/http-request.ts'
import { HttpResponse } from '../http/http-response.ts'
import { searchWithoutTokens } from './credentials.ts'
import { requestHeaders, responseHeaders } from './headers.ts'

/** Forwards a request to the port of its preview, and to no other. */
export async function proxy(
  daemon: Daemon,
  { preview, path, by }: PreviewTarget,
  request: HttpRequest,
): Promise<HttpResponse> {
  const address = await addressOf(daemon, preview)
  const containsToken = (text: string) => daemon.tokens.isContainedIn(text)
  const search = searchWithoutTokens(request.search, containsToken)
  const headers = requestHeaders(request.headers(), `localhost:${preview.port}`, by, containsToken)
  // The body of a GET is not forwarded; with its content-length the port would wait for the next request's bytes.
  if (request.body === null) delete headers['content-length']
  // For some methods Node expects no body and would send one without a length.
  else if (headers['content-length'] === undefined) headers['transfer-encoding'] = 'chunked'
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing = http.request(
      {
        host: address.host,
        port: address.port,
        method: request.method,
        path: path + search,
        headers,
        timeout: responseMs,
        signal: AbortSignal.any([request.signal, daemon.closing]),
      },
      (response) => {
        // The limit is for the response headers only: a stream may be silent for hours.
        outgoing.setTimeout(0)
        resolve(response)
      },
    )
    outgoing.once('timeout', () => outgoing.destroy(responseTimeout()))
    outgoing.on('error', (error) => reject(unavailable(preview.port, error)))
    // Node closes a connection without an error when the port switches protocols unrequested.
    outgoing.once('close', () => reject(unavailable(preview.port, closedEarly())))
    if (request.body === null) outgoing.end()
    else pipeline(Readable.fromWeb(request.body), outgoing).catch((error) => outgoing.destroy(error))
  })
  const status = response.statusCode ?? 0
  if (status < 200 || status > 599) {
    response.destroy()
    throw unavailable(preview.port, new Error(`expected a response status from 200 to 599, got ${status}.`))
  }
  const isEmpty = request.method === 'HEAD' || [204, 205, 304].includes(status)
  if (isEmpty) response.resume()
  const body = isEmpty ? null : closingParts(response[Symbol.asyncIterator](), () => void response.destroy())
  const responseHeaderValues = groupByName(responseHeaders(response.headers, by))
  // Node expects a body for status 205.
  if (status === 205) delete responseHeaderValues['content-length']
  return new HttpResponse(status, responseHeaderValues, body)
}

/** Forwards a WebSocket upgrade to the port; after its 101 response, pipes bytes both ways. */
export async function proxyUpgrade(
  daemon: Daemon,
  { preview, path, by }: PreviewTarget,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): Promise<void> {
  const { host, port } = await addressOf(daemon, preview)
  const containsToken = (text: string) => daemon.tokens.isContainedIn(text)
  const search = searchWithoutTokens(/\?.*$/.exec(request.url ?? '')?.[0] ?? '', containsToken)
  const passed = requestHeaders(request.headers, `localhost:${preview.port}`, by, containsToken)
  const { response, upstream } = await new Promise<UpgradeResult>((resolve, reject) => {
    const outgoing = http.request({
      host,
      port,
      path: path + search,
      headers: { ...passed, connection: 'Upgrade', upgrade: 'websocket' },
      agent: false,
      timeout: responseMs,
      signal: daemon.closing,
    })
    outgoing.once('upgrade', (response, upstream, rest) => {
      upstream.setTimeout(0)
      upstream.unshift(rest)
      resolve({ response, upstream })
    })
    outgoing.once('response', (response) => resolve({ response }))
    outgoing.once('timeout', () => outgoing.destroy(responseTimeout()))
    outgoing.on('error', (error) => reject(unavailable(preview.port, error)))
    outgoing.once('close', () => reject(unavailable(preview.port, closedEarly())))
    outgoing.end()
  })
  socket.write(headOf(response, by, upstream === undefined ? 'close' : 'Upgrade'), 'latin1')
  // Without an upgrade only the response is piped: later requests on the connection are for the daemon.
  if (upstream === undefined) return pipeline(response, socket)
  const end = () => {
    upstream.destroy()
    socket.destroy()
  }
  daemon.closing.addEventListener('abort', end)
  if (daemon.closing.aborted) end()
  else if (head.length > 0) upstream.write(head)
  await Promise.allSettled([pipeline(socket, upstream), pipeline(upstream, socket)])
  daemon.closing.removeEventListener('abort', end)
  end()
}

/** How long a port may take until its response begins. */
const responseMs = 120_000

function responseTimeout(): Error {
  return new Error(`no response began within ${responseMs / 1_000} s`)
}

function closedEarly(): Error {
  return new Error('it closed the connection')
}

interface UpgradeResult {
  readonly response: IncomingMessage
  /** Undefined when the port responded without an upgrade. */
  readonly upstream?: Duplex
}

function headOf(response: IncomingMessage, by: PreviewTarget['by'], connection: 'close' | 'Upgrade'): string {
  const pairs = [...responseHeaders(response.headers, by), ['connection', connection]]
  if (connection === 'Upgrade') pairs.push(['upgrade', 'websocket'])
  const lines = pairs.map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${response.statusCode} ${response.statusMessage}\r\n${lines.join('')}\r\n`
}

/** Groups values by header name: a header may occur several times. */
function groupByName(pairs: readonly (readonly [string, string])[]): Record<string, string[]> {
  const headers: Record<string, string[]> = Object.create(null)
  for (const [name, value] of pairs) headers[name] = [...(headers[name] ?? []), value]
  return headers
}

async function addressOf(
  { host }: Daemon,
  { sandbox, port }: PreviewTarget['preview'],
): Promise<PortAddress> {
  return (await host.findStarted(sandbox)).ports.resolve(port)
}

function unavailable(port: number, cause: Error): VitrineError {
  return new VitrineError('port_unavailable', `Port ${port} gave no response: ${cause.message}`, { cause })
}
