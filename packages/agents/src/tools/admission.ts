import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** The HTTP error response for a rejected request. */
export interface HttpRefusal {
  readonly status: number
  readonly message: string
  readonly headers?: Readonly<Record<string, string>>
}

/** The only path that is served. */
export const toolsPath = '/mcp'

/** Checks a request by its method, path and headers, before its body is read. */
export function admission(
  token: string,
  port: number,
): (request: {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: IncomingHttpHeaders
}) => HttpRefusal | undefined {
  const hosts = new Set([`127.0.0.1:${port}`, `localhost:${port}`])
  const expected = digest(`Bearer ${token}`)
  return ({ method, url, headers }) => {
    const { host, origin, authorization } = headers
    // DNS rebinding: a web page whose own host name resolves to this address.
    if (host === undefined || !hosts.has(host.toLowerCase()))
      return { status: 403, message: `Expected the host to be ${[...hosts].join(' or ')}.` }
    if (origin !== undefined) return { status: 403, message: 'Web pages may not call tools.' }
    if (!timingSafeEqual(digest(authorization ?? ''), expected))
      return { status: 401, message: 'Expected the token of this session.' }
    if (url !== toolsPath) return { status: 404, message: `Expected the path ${toolsPath}.` }
    if (method !== 'POST')
      return { status: 405, message: 'Only POST is allowed.', headers: { allow: 'POST' } }
    if (!/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? ''))
      return { status: 415, message: 'Expected a body of type application/json.' }
    if ((headers['content-encoding'] ?? 'identity') !== 'identity')
      return { status: 415, message: 'Expected an uncompressed body.' }
    return undefined
  }
}

/** Digests have equal length, so that the comparison takes constant time. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
