import type { IncomingMessage } from 'node:http'
import { VitrineError } from '@vitrine/protocol'

/** Node keeps the first of these and drops the others, and a proxy in front of the daemon may keep the last. */
const singleHeaders = new Map([
  ['host', 'Host'],
  ['origin', 'Origin'],
  ['content-type', 'Content-Type'],
  ['content-length', 'Content-Length'],
])

/** Refuses a request in which a header occurs twice that decides where it goes or what it may do. */
export function checkSingleHeaders(rawHeaders: readonly string[]): void {
  const seen = new Set<string>()
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = singleHeaders.get(rawHeaders[index]!.toLowerCase())
    if (name === undefined) continue
    if (seen.has(name))
      throw new VitrineError('request_invalid', `${name}: expected one header, got several.`)
    seen.add(name)
  }
}

/** The value of the Authorization header. Several are joined, so that none of them is taken for a token. */
export function authorizationOf({ headers, rawHeaders }: IncomingMessage): string | undefined {
  const { authorization } = headers
  if (authorization === undefined) return undefined
  const values: string[] = []
  for (let index = 0; index < rawHeaders.length; index += 2)
    if (rawHeaders[index]!.toLowerCase() === 'authorization') values.push(rawHeaders[index + 1]!)
  return values.length > 1 ? values.join(', ') : authorization
}

/** A normalized path whose characters the URL parser would not change. */
const plainPath = /^(?!.*(?:\/\.|%2e))\/[\w\-.~!$&'()*+,;=:@%/]*$/i

/** The normalized path of a request URL; empty if the URL is not a path. */
export function requestPath(url: string): string {
  const [path = ''] = url.split('?', 1)
  if (plainPath.test(path)) return path
  if (!/^\/[^\\#]*$/.test(path)) return ''
  return URL.parse(`http://localhost${path}`)?.pathname ?? ''
}

export function invalidRequestUrl(): VitrineError {
  return new VitrineError(
    'request_invalid',
    'Request URL: expected a path that begins with "/", without a host, "\\" and "#".',
  )
}
