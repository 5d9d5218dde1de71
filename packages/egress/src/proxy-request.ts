import { endToEndHeaders, type HeaderValues, tokens } from './headers.ts'
import { readTarget, showTarget, type Target, type UnreadableTarget } from './target.ts'

/** A parsed request in absolute form (`GET http://host/path`), as it is forwarded. */
export interface PlainRequest {
  readonly target: Target
  readonly path: string
  readonly headers: ReadonlyMap<string, string | string[]>
  readonly body: 'none' | 'sized' | 'chunked'
}

/** The fields of Node's `IncomingMessage` that are checked. */
export interface RequestHead {
  readonly url?: string | undefined
  readonly httpVersion: string
  readonly headersDistinct: HeaderValues
}

const httpPort = 80

/** Parses the target of `CONNECT host:port`. */
export function readConnectRequest(request: {
  readonly url?: string | undefined
  readonly httpVersion: string
}): Target | UnreadableTarget {
  return versionError(request.httpVersion) ?? readTarget(request.url ?? '')
}

/** Parses a plain request. Prevents request smuggling: a request that two parsers could read differently is refused. */
export function readPlainRequest({
  url = '',
  httpVersion,
  headersDistinct,
}: RequestHead): PlainRequest | UnreadableTarget {
  const [, scheme, authority = '', rest = ''] = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)(.*)$/i.exec(url) ?? []
  if (scheme === undefined)
    return { reason: 'this is a proxy: it takes CONNECT and absolute http:// requests' }
  if (scheme.toLowerCase() !== 'http')
    return { reason: 'only http:// is forwarded; use CONNECT for the rest' }
  if (rest.includes('#')) return { reason: 'it contains a fragment' }
  const target = readTarget(authority, httpPort)
  if (!('host' in target)) return target
  const problem = versionError(httpVersion)?.reason ?? framingError(target, httpVersion, headersDistinct)
  if (problem !== undefined) return { reason: problem }

  const body = headersDistinct['transfer-encoding']
    ? 'chunked'
    : headersDistinct['content-length']
      ? 'sized'
      : 'none'
  const headers = endToEndHeaders(headersDistinct)
  headers.set('host', target.port === httpPort ? showTarget(target).replace(/:80$/, '') : showTarget(target))
  if (body === 'chunked') headers.set('transfer-encoding', 'chunked')
  return { target, path: rest.startsWith('/') ? rest : `/${rest}`, headers, body }
}

function framingError(target: Target, httpVersion: string, headers: HeaderValues): string | undefined {
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
  // Some clients offer an upgrade to h2c with every request and continue without it if it is ignored.
  if (tokens(headers.upgrade).some((protocol) => protocol !== 'h2c'))
    return 'it asks for another protocol; use CONNECT for that'
  return undefined
}

function isSame(target: Target, other: Target | UnreadableTarget): boolean {
  return 'host' in other && showTarget(other) === showTarget(target)
}

/** Rejects HTTP/0.9: Node's parser takes a line break in the target for the end of such a request and reads on. */
function versionError(httpVersion: string): UnreadableTarget | undefined {
  if (httpVersion === '1.1' || httpVersion === '1.0') return undefined
  return { reason: `it is HTTP/${httpVersion}, not 1.1` }
}
