import { isVitrineError, type JournalItem, VitrineError } from '@vitrine/protocol'
import type { Sink } from './sink.ts'

/** Whom to post to. Nothing of it but the origin appears in an error. */
export interface PostTarget {
  /** An `http:` or `https:` address; a name and password in it become an `authorization` header. */
  readonly url: string | URL
  readonly headers?: Readonly<Record<string, string>>
  /** For one request with its answer: 10 s without it. */
  readonly timeoutMs?: number
  readonly fetch?: typeof globalThis.fetch
}

/** How events become bodies. */
export interface PostFormat {
  readonly contentType: string
  /** A batch beyond this becomes several requests; an event beyond it a request of its own. */
  readonly maxBodyBytes: number
  encode(item: JournalItem): string
  join(encoded: readonly string[]): string
  /** Gets the text of each 2xx response, up to 64 KiB of it. */
  onResponse?(text: string): void
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

/** The `write` of a sink that posts: in order, and on a retry not again what the receiver has accepted. */
export function postBatches(sink: string, target: PostTarget, format: PostFormat): Sink['write'] {
  const receiver = receiverOf(sink, target)
  let done = { key: '', requests: 0 }
  return async ({ events, key }, { signal }) => {
    if (done.key !== key) done = { key, requests: 0 }
    const parts = split(events.map(format.encode), format.maxBodyBytes)
    for (const [index, part] of parts.entries()) {
      if (index < done.requests) continue
      const headers = new Headers(receiver.headers)
      headers.set('content-type', format.contentType)
      headers.set('idempotency-key', headerText(parts.length === 1 ? key : `${key}.${index + 1}`))
      const response = await post(receiver, headers, format.join(part), signal)
      format.onResponse?.(response)
      done.requests = index + 1
    }
    done = { key: '', requests: 0 }
  }
}

/** The address as a `URL`; its text may hold a secret, so an error never repeats it. */
export function httpUrl(sink: string, text: string | URL): URL {
  const url = URL.parse(String(text))
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw new VitrineError(
    'argument_invalid',
    `${sink}: expected \`url\` to be an http: or https: address, got ${url ? `one of ${url.protocol}` : 'no address'}.`,
  )
}

function receiverOf(sink: string, target: PostTarget): Receiver {
  const { fetch = globalThis.fetch, timeoutMs = 10_000 } = target
  const url = httpUrl(sink, target.url)
  const headers = new Headers()
  if (url.username !== '' || url.password !== '') {
    headers.set('authorization', basicCredentials(url))
    // fetch() refuses an address with a login in it.
    url.username = ''
    url.password = ''
  }
  for (const [name, value] of Object.entries(target.headers ?? {})) {
    try {
      headers.set(name, value)
    } catch {
      // The platform's own error repeats the value.
      throw new VitrineError('argument_invalid', `${sink}: expected the header ${name} to be valid in HTTP.`)
    }
  }
  return { url: url.href, origin: url.origin, headers, timeoutMs, fetch }
}

function basicCredentials({ username, password }: URL): string {
  const login = `${percentDecoded(username)}:${percentDecoded(password)}`
  return `Basic ${Buffer.from(login, 'latin1').toString('base64')}`
}

/** One character for each byte; unlike decodeURIComponent it takes any text that a URL does. */
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

/** A key may hold a name in any script; a header holds visible ASCII. */
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
    // 'manual' hands a redirect over like any other answer; 'error' would hide its status.
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

/** Reads to the end, so that an answer that was cut is not taken for one, and the connection can be used again. */
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
    `Expected ${origin} to answer within ${timeoutMs} ms, got no whole response.`,
  )
}

function rejectedError(origin: string, { status, headers }: Response): VitrineError {
  const retryAfterMs = retryAfter(headers.get('retry-after'))
  const advice = status >= 300 && status < 400 ? ' Redirects are not followed: give the final address.' : ''
  return new VitrineError('sink_rejected', `Expected ${origin} to answer 2xx, got ${status}.${advice}`, {
    details: { status, ...(retryAfterMs !== undefined && { retryAfterMs }) },
  })
}

function connectionError(origin: string, error: unknown): VitrineError {
  const systemCode = codeOf(error)
  const details = systemCode === undefined ? {} : { systemCode }
  return new VitrineError(
    'sink_unwritable',
    `Expected ${origin} to response, got ${systemCode ?? 'a broken connection'}.`,
    { cause: error, details },
  )
}

/** The system's code is somewhere along the causes; texts are left out, as they may repeat the address. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  return 'code' in error && typeof error.code === 'string' ? error.code : codeOf(error.cause)
}

/** Seconds or a date, as milliseconds from now; at most a day. */
function retryAfter(header: string | null): number | undefined {
  if (header === null) return undefined
  const text = header.trim()
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), dayMs)
}
