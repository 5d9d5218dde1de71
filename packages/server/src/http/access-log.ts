import type { HttpRequest } from './http-request.ts'

/** A request and its response, without queries, headers and bodies, which may contain secrets. */
export interface AccessEntry {
  readonly method: string
  /** Masked as events are; the token of a preview is left out. */
  readonly path: string
  readonly status: number
  /** Until the response began; a stream continues. */
  readonly durationMs: number
  /** The name of the token; absent for a request without a valid one. */
  readonly caller?: string
}

export type OnRequest = (entry: AccessEntry) => void

const longest = 500

/** The path of a request as it may be logged. */
export function loggedPath({ path }: Pick<HttpRequest, 'path'>, redact: (text: string) => string): string {
  const shown = redact(path.replace(/^\/preview\/[^/]+/, '/preview/…'))
  // A path is percent-encoded, but a client may send raw bytes, which could imitate another line.
  const safe = shown.replace(/[^\x20-\x7e…]/g, '?')
  return safe.length <= longest ? safe : `${safe.slice(0, longest)}…`
}
