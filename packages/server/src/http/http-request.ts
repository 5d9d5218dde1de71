import type { Caller } from '../guard/caller.ts'

/** A request, from a Node server or from `fetch`. */
export interface HttpRequest {
  readonly method: string
  /** The normalized path of the URL: no `..`, no `\`. Empty if the URL is not such a path. */
  readonly path: string
  /** The query with its `?`; empty if there is none. */
  readonly search: string
  readonly protocol: 'http:' | 'https:'
  /** The Host header, with the port. */
  readonly host: string
  /** The name is in lower case. */
  header(name: string): string | undefined
  headers(): Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: ReadableStream<Uint8Array> | null
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal
  /** Notes that the request has shown a token that the daemon knows. Throws if its access has too many connections. */
  setAuthenticated(access: Caller['access']): void
}

/** Converts a web-standard `Request`. */
export function fromRequest(request: Request): HttpRequest {
  const { method, headers, body, signal } = request
  const { pathname, search, protocol, host } = new URL(request.url)
  return {
    method,
    path: pathname,
    search,
    protocol: protocol === 'https:' ? protocol : 'http:',
    host: headers.get('host') ?? host,
    header: (name) => headers.get(name) ?? undefined,
    headers: () => Object.fromEntries(headers),
    body,
    signal,
    setAuthenticated: () => undefined,
  }
}
