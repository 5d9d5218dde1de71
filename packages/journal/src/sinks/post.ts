import { isVitrineError, type JournalItem, VitrineError } from '@vitrine/protocol'
import { systemErrorCode } from '@vitrine/protocol/primitives'
import type { Sink, SinkWriteOptions } from './sink.ts'

/** The receiver of requests. Errors name only its origin, because the rest may contain secrets. */
export interface PostTarget {
  /** An `http:` or `https:` URL; a username and password in it become an `authorization` header. */
  readonly url: string | URL
  readonly headers?: Readonly<Record<string, string>>
  /** Time limit of one request with its response; default 10 s. */
  readonly timeoutMs?: number
  readonly fetch?: typeof globalThis.fetch
}

/** How events are encoded as request bodies. */
export interface PostFormat {
  readonly contentType: string
  /** A larger batch becomes several requests; a larger event becomes its own request. */
  readonly maxBodyBytes: number
  encode(item: JournalItem): string
  join(encoded: readonly string[]): string
  /** Called with the text of each 2xx response, up to 64 KiB. */
  onResponse?(text: string, options: SinkWriteOptions): void
}

interface Receiver {
  readonly url: string
  readonly origin: string
  readonly headers: Headers
  readonly timeoutMs: number
  readonly fetch: typeof globalThis.fetch
}

const maxResponseBytes = 64 * 1024
const dayMs = 24 * 60 * 60 * 1000

/** The `write` of a sink that posts in order. A retry skips the requests that the receiver has accepted. */
export function postBatches(sink: string, target: PostTarget, format: PostFormat): Sink['write'] {
  const receiver = receiverOf(sink, target)
  let done = { key: '', requests: 0 }
  return async ({ events, key }, options) => {
    if (done.key !== key) done = { key, requests: 0 }
    const parts = split(events.map(format.encode), format.maxBodyBytes)
    for (const [index, part] of parts.entries()) {
      if (index < done.requests) continue
      const headers = new Headers(receiver.headers)
      headers.set('content-type', format.contentType)
      headers.set('idempotency-key', headerText(parts.length === 1 ? key : `${key}.${index + 1}`))
      const response = await post(receiver, headers, format.join(part), options.signal)
      format.onResponse?.(response, options)
      done.requests = index + 1
    }
    done = { key: '', requests: 0 }
  }
}

/** Parses the URL. It may contain a secret, so an error never repeats it. */
export function httpUrl(sink: string, text: string | URL): URL {
  const url = URL.parse(String(text))
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw new VitrineError(
    'argument_invalid',
    `${sink}: expected \`url\` to be an http: or https: URL, got ${url ? `the protocol ${url.protocol}` : 'an invalid URL'}.`,
  )
}

function receiverOf(sink: string, target: PostTarget): Receiver {
  const { fetch = globalThis.fetch, timeoutMs = 10_000 } = target
  const url = httpUrl(sink, target.url)
  const headers = new Headers()
  if (url.username !== '' || url.password !== '') {
    headers.set('authorization', basicCredentials(url))
    // fetch() rejects a URL with credentials.
    url.username = ''
    url.password = ''
  }
  for (const [name, value] of Object.entries(target.headers ?? {})) {
    try {
      headers.set(name, value)
    } catch {
      // The platform's own error would repeat the value, which may be a secret.
      throw new VitrineError(
        'argument_invalid',
        `${sink}: expected a valid name and value of the header ${name}.`,
      )
    }
  }
  return { url: url.href, origin: url.origin, headers, timeoutMs, fetch }
}

function basicCredentials({ username, password }: URL): string {
  const login = `${percentDecoded(username)}:${percentDecoded(password)}`
  return `Basic ${Buffer.from(login, 'latin1').toString('base64')}`
}

/** One character per byte; unlike `decodeURIComponent`, it accepts every text that a URL may contain. */
function percentDecoded(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

function split(encoded: readonly string[], maxBytes: number): string[][] {
  const parts: string[][] = []
  let bytes = 0
  for (const text of encoded) {
    const length = Buffer.byteLength(text)
    const part = parts.at(-1)
    if (part && bytes + length <= maxBytes) {
      part.push(text)
      bytes += length
    } else {
      parts.push([text])
      bytes = length
    }
  }
  return parts
}

/** A header must be visible ASCII, but a sink's name may use any script. */
function headerText(key: string): string {
  return key.toWellFormed().replace(/[^\x21-\x7e]+/g, encodeURIComponent)
}

async function post(
  receiver: Receiver,
  headers: Headers,
  body: string,
  signal: AbortSignal,
): Promise<string> {
  signal.throwIfAborted()
  const { url, origin, timeoutMs, fetch } = receiver
  const stop = new AbortController()
  const cancel = () => stop.abort(signal.reason)
  const timer = setTimeout(() => stop.abort(timeoutError(origin, timeoutMs)), timeoutMs)
  signal.addEventListener('abort', cancel, { once: true })
  try {
    // 'manual' returns a redirect like any other response; 'error' would hide its status.
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
      signal: stop.signal,
    })
    if (!response.ok) {
      await response.body?.cancel().catch(() => undefined)
      throw rejectedError(origin, response)
    }
    return await readResponse(response)
  } catch (error) {
    if (isVitrineError(error)) throw error
    if (stop.signal.aborted) throw stop.signal.reason
    throw connectionError(origin, error)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', cancel)
  }
}

/** Reads the whole body, so that a truncated response fails and the connection can be reused. */
async function readResponse(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > maxResponseBytes) break
  }
  return Buffer.concat(chunks).toString()
}

function timeoutError(origin: string, timeoutMs: number): VitrineError {
  return new VitrineError(
    'timeout',
    `Expected a response from ${origin} within ${timeoutMs} ms, got none or an incomplete one.`,
  )
}

function rejectedError(origin: string, { status, headers }: Response): VitrineError {
  const retryAfterMs = retryAfter(headers.get('retry-after'))
  const advice = status >= 300 && status < 400 ? ' Redirects are not followed: use the final URL.' : ''
  return new VitrineError(
    'sink_rejected',
    `Expected a 2xx response from ${origin}, got ${status}.${advice}`,
    {
      details: { status, ...(retryAfterMs !== undefined && { retryAfterMs }) },
    },
  )
}

function connectionError(origin: string, error: unknown): VitrineError {
  const systemCode = codeOf(error)
  const details = systemCode === undefined ? {} : { systemCode }
  return new VitrineError(
    'sink_unwritable',
    `Expected a response from ${origin}, got ${systemCode ?? 'a broken connection'}.`,
    { cause: error, details },
  )
}

/** The first system code in the chain of causes. Messages are omitted, because they may repeat the URL. */
function codeOf(error: unknown): string | undefined {
  return systemErrorCode(error) ?? (error instanceof Error ? codeOf(error.cause) : undefined)
}

/** Parses seconds or a date into milliseconds from now, at most a day. */
function retryAfter(header: string | null): number | undefined {
  if (header === null) return undefined
  const text = header.trim()
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), dayMs)
}
