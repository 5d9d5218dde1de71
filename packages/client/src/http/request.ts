import { fromProblem, isVitrineError, VitrineError } from '@vitrine/protocol'
import { pathOf, type Query, queryOf } from './address.ts'
import { CancellableCall } from './cancellable-call.ts'
import { connectionFailed, failureOf, isProblemBody } from './failures.ts'
import type { HttpClient } from './http-client.ts'
import { type RequestBody, sendable } from './request-body.ts'
import { RequestCancellation } from './request-cancellation.ts'

export interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Segments of the path, below those of the client. */
  readonly path: readonly string[]
  readonly query?: Query
  readonly json?: unknown
  readonly bytes?: RequestBody
  readonly headers?: Readonly<Record<string, string>>
  /** The caller's signal: when it aborts, the call is cancelled at the server, whose response is the result. */
  readonly signal?: AbortSignal | undefined
  /** When it aborts, the connection is dropped. */
  readonly until?: AbortSignal | undefined
  /** Time limit for the response; default `timeoutMs` of the client for a GET, and none for other methods. */
  readonly limitMs?: number | 'none'
}

/** A response whose headers have arrived, and how to end it. */
export interface RequestResult {
  readonly response: Response
  readonly cancellation: RequestCancellation
  readonly endpoint: string
}

/** Sends a request; throws the error of an unsuccessful response. */
export async function request(http: HttpClient, options: RequestOptions): Promise<RequestResult> {
  const { method = 'GET', query = {}, bytes, signal, until } = options
  const path = pathOf([...http.parts, ...options.path])
  const endpoint = `${method} ${path}`
  const address = `${http.url}${path}${queryOf(query)}`
  const call = signal && new CancellableCall(http, signal)
  const cancellation = new RequestCancellation({
    endpoint,
    caller: signal ?? until,
    closing: http.closing,
    limitMs: timeLimitOf(http, options),
    call,
  })
  try {
    if (cancellation.signal.aborted) throw cancellation.error()
    const response = await http.fetch(address, {
      method,
      ...(await contentOf(http, options, call)),
      signal: cancellation.signal,
    })
    if (response.ok) return { response, cancellation, endpoint }
    throw await failureOf(response, endpoint)
  } catch (error) {
    bytes?.cancel()
    cancellation.detach()
    if (cancellation.signal.aborted) throw cancellation.error(error)
    throw bytes?.failure() ?? (isVitrineError(error) ? error : cancellation.error(error))
  }
}

function timeLimitOf(http: HttpClient, { method = 'GET', limitMs }: RequestOptions): number | undefined {
  if (limitMs === 'none') return undefined
  return limitMs ?? (method === 'GET' ? http.timeoutMs : undefined)
}

async function contentOf(
  http: HttpClient,
  { method = 'GET', json, bytes, headers }: RequestOptions,
  call: CancellableCall | undefined,
): Promise<RequestInit> {
  // Keep-alive: a response that takes minutes sends its headers before a proxy gives up.
  const defaults = { accept: 'application/json', 'vitrine-keepalive': 'true' }
  // A GET of a `Sandbox` is a use of it, also after a restart of the daemon.
  const starting = method === 'GET' ? { 'vitrine-start': 'true' } : {}
  const all = { ...defaults, ...starting, ...http.headers(), ...headers, ...call?.headers() }
  if (bytes !== undefined) {
    const body = call?.isCancelled ? new Uint8Array() : bytes.body
    return { headers: { ...all, 'content-type': 'application/octet-stream' }, ...(await sendable(body)) }
  }
  if (json === undefined) return { headers: all }
  return { headers: { ...all, 'content-type': 'application/json' }, body: toJson(json) }
}

function toJson(json: unknown): string {
  try {
    return JSON.stringify(json)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new VitrineError('argument_invalid', `Cannot serialize the request as JSON: ${reason}`, {
      cause: error,
    })
  }
}

/** Requests JSON. The type is not checked here: the contract tests check the server's responses. */
export async function requestJson<T>(http: HttpClient, options: RequestOptions): Promise<T> {
  const result = await request(http, options)
  return parseResponse(await textOf(result, options), result) as T
}

/** Reads the whole body, so that the connection can be reused. */
async function textOf({ response, cancellation }: RequestResult, { bytes }: RequestOptions): Promise<string> {
  try {
    return await response.text()
  } catch (error) {
    throw cancellation.error(error)
  } finally {
    cancellation.detach()
    bytes?.cancel()
  }
}

function parseResponse(text: string, { endpoint, response }: RequestResult): unknown {
  const body = parseJson(text, endpoint, response.status)
  if (isProblemBody(body)) throw fromProblem(body)
  return body
}

function parseJson(text: string, endpoint: string, status: number): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw connectionFailed(
      `${endpoint}: expected JSON, got another body with status ${status}.`,
      error,
      status,
    )
  }
}

/** Sends a request whose response has no body. */
export async function requestVoid(http: HttpClient, options: RequestOptions): Promise<void> {
  const result = await request(http, options)
  const text = await textOf(result, options)
  // With keep-alive, a response that began with 200 can end with a problem.
  if (text.trim() !== '') parseResponse(text, result)
}
