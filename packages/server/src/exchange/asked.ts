/** A request, wherever it came from. */
export interface Asked {
  readonly method: string
  /** Its address, taken apart. */
  readonly url: URL
  /** By its name in lower case. */
  header(name: string): string | undefined
  headers(): Readonly<Record<string, string | readonly string[] | undefined>>
  /** What comes with it; nothing where nothing comes. */
  readonly body: ReadableStream<Uint8Array> | null
  /** Aborted when whoever asked is gone. */
  readonly signal: AbortSignal
}

/** A request of the web's kind. */
export function fromRequest(request: Request): Asked {
  const { method, headers, body } = request
  return {
    method,
    url: new URL(request.url),
    header: (name) => headers.get(name) ?? undefined,
    headers: () => Object.fromEntries(headers),
    body,
    signal: request.signal,
  }
}
