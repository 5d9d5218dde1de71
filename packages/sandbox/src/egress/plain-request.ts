import { versionTrouble } from './connect-request.ts'
import { endToEnd, type Headers, tokens } from './headers.ts'
import { readTarget, showTarget, type Target, type Unreadable } from './target.ts'

/** A request in absolute form (`GET http://host/path`), understood, as it is to be sent on. */
export interface PlainRequest {
  readonly target: Target
  readonly path: string
  readonly headers: ReadonlyMap<string, string | string[]>
  readonly body: 'none' | 'sized' | 'chunked'
}

/** The parts of node's `IncomingMessage` that decide. */
export interface RequestHead {
  readonly url?: string | undefined
  readonly httpVersion: string
  readonly headersDistinct: Headers
}

const httpPort = 80

/** Two readers of one request must not see two requests: what could be read in two ways is not read at all. */
export function readPlainRequest({
  url = '',
  httpVersion,
  headersDistinct,
}: RequestHead): PlainRequest | Unreadable {
  const [, scheme, authority = '', rest = ''] = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)(.*)$/i.exec(url) ?? []
  if (scheme === undefined)
    return { reason: 'this is a proxy: it takes CONNECT and absolute http:// requests' }
  if (scheme.toLowerCase() !== 'http')
    return { reason: 'only http:// is forwarded; use CONNECT for the rest' }
  if (rest.includes('#')) return { reason: 'it contains a fragment' }
  const target = readTarget(authority, httpPort)
  if (!('host' in target)) return target
  const trouble = versionTrouble(httpVersion)?.reason ?? troubleWith(target, httpVersion, headersDistinct)
  if (trouble !== undefined) return { reason: trouble }

  const body = headersDistinct['transfer-encoding']
    ? 'chunked'
    : headersDistinct['content-length']
      ? 'sized'
      : 'none'
  const headers = endToEnd(headersDistinct)
  headers.set('host', target.port === httpPort ? showTarget(target).replace(/:80$/, '') : showTarget(target))
  if (body === 'chunked') headers.set('transfer-encoding', 'chunked')
  return { target, path: rest.startsWith('/') ? rest : `/${rest}`, headers, body }
}

function troubleWith(target: Target, httpVersion: string, headers: Headers): string | undefined {
  const { host: hosts = [], 'content-length': lengths = [], 'transfer-encoding': encodings = [] } = headers
  if (hosts.length > 1) return 'it has more than one Host header'
  const [host] = hosts
  if (host === undefined && httpVersion === '1.1') return 'it has no Host header'
  if (host !== undefined && !isSame(target, readTarget(host, httpPort)))
    return 'its Host header names something else than its target'
  if (lengths.length > 1) return 'it has more than one Content-Length'
  if (encodings.length > 0 && lengths.length > 0) return 'it has both Content-Length and Transfer-Encoding'
  if (encodings.length > 0 && (httpVersion === '1.0' || tokens(encodings).join() !== 'chunked'))
    return 'its Transfer-Encoding is not chunked alone'
  // Some clients offer HTTP/2 with every request and are content when nobody takes it up.
  if (tokens(headers.upgrade).some((protocol) => protocol !== 'h2c'))
    return 'it asks for another protocol; use CONNECT for that'
  return undefined
}

function isSame(target: Target, other: Target | Unreadable): boolean {
  return 'host' in other && showTarget(other) === showTarget(target)
}
