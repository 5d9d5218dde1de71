import { readTarget, type Target, type Unreadable } from './target.ts'

/** The target of `CONNECT host:port`. */
export function readConnectRequest(request: {
  readonly url?: string | undefined
  readonly httpVersion: string
}): Target | Unreadable {
  return versionTrouble(request.httpVersion) ?? readTarget(request.url ?? '')
}

/** Node's parser takes a line break in the target for the end of an HTTP/0.9 request, and goes on reading. */
export function versionTrouble(httpVersion: string): Unreadable | undefined {
  if (httpVersion === '1.1' || httpVersion === '1.0') return undefined
  return { reason: `it is HTTP/${httpVersion}, not 1.1` }
}
