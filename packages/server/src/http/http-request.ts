/** A request, wherever it came from. */
export interface HttpRequest {
  readonly method: string
  /** Of its address, without what leads nowhere: no `..`, no `\`. */
  readonly path: string
  /** With its `?`; empty where there is none. */
  readonly search: string
  readonly protocol: 'http:' | 'https:'
  /** What the caller thinks this is, with its port. */
  readonly host: string
  /** By its name in lower case. */
  header(name: string): string | undefined
  headers(): Readonly<Record<string, string | readonly string[] | undefined>>
  /** What comes with it; nothing where nothing comes. */
  readonly body: ReadableStream<Uint8Array> | null
  /** Aborted when whoever asked is gone. */
  readonly signal: AbortSignal
}

/** A request of the web's kind. */
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
  }
}
