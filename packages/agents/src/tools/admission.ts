import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** Why a request is not answered, as HTTP has it. */
export interface Refusal {
  readonly status: number
  readonly message: string
  readonly headers?: Readonly<Record<string, string>>
}

/** The one path that is served. */
export const toolsPath = '/mcp'

/** Decides about a request by its head alone: nothing of its body is read before. */
export function admission(
  token: string,
  port: number,
): (request: {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: IncomingHttpHeaders
}) => Refusal | undefined {
  const hosts = new Set([`127.0.0.1:${port}`, `localhost:${port}`])
  const expected = digest(`Bearer ${token}`)
  return ({ method, url, headers }) => {
    const { host, origin, authorization } = headers
    // A page in a browser that was led here by its own name for this address.
    if (host === undefined || !hosts.has(host.toLowerCase()))
      return { status: 403, message: `Expected the host to be ${[...hosts].join(' or ')}.` }
    if (origin !== undefined) return { status: 403, message: 'Web pages may not call tools.' }
    if (!timingSafeEqual(digest(authorization ?? ''), expected))
      return { status: 401, message: 'Expected the token of this session.' }
    if (url !== toolsPath) return { status: 404, message: `Expected the path ${toolsPath}.` }
    if (method !== 'POST')
      return { status: 405, message: 'Only POST is answered here.', headers: { allow: 'POST' } }
    if (!/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? ''))
      return { status: 415, message: 'Expected content of type application/json.' }
    if ((headers['content-encoding'] ?? 'identity') !== 'identity')
      return { status: 415, message: 'Expected content that is not compressed.' }
    return undefined
  }
}

/** Of one length whatever comes, so that comparing takes the same time. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
