import { fromProblem, isVitrineError, VitrineError } from '@vitrine/protocol'
import { pathOf, type Query, queryOf } from './address.ts'
import { CancellableCall } from './cancellable-call.ts'
import { connectionFailed, failureOf, isProblemBody } from './failures.ts'
import type { HttpClient } from './http-client.ts'
import { type RequestBody, sendable } from './request-body.ts'
import { RequestCancellation } from './request-cancellation.ts'

export interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Below where the wire is. */
  readonly path: readonly string[]
  readonly query?: Query
  readonly json?: unknown
  readonly bytes?: RequestBody
  readonly headers?: Readonly<Record<string, string>>
  /** The caller's: when it aborts, the server is told, and what it then answers is the answer. */
  readonly signal?: AbortSignal | undefined
  /** When it aborts, nobody wants the answer any more: the connection is dropped. */
  readonly until?: AbortSignal | undefined
  /** How long the answer may take at most; `none` is for work. By default a `GET` is a question, and the rest is work. */
  readonly limitMs?: number | 'none'
}

/** An answer that has begun, and how to be done with it. */
export interface RequestResult {
  readonly response: Response
  readonly cancellation: RequestCancellation
  readonly endpoint: string
}

/** Asks, and throws whatever is no success. */
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
    cancellation.release()
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
  { json, bytes, headers }: RequestOptions,
  call: CancellableCall | undefined,
): Promise<RequestInit> {
  // Whatever takes minutes: its headers come before anybody gives up on them, and its JSON in the end.
  const defaults = { accept: 'application/json', 'vitrine-keepalive': 'true' }
  const all = { ...defaults, ...http.headers(), ...headers, ...call?.headers() }
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
    throw new VitrineError('argument_invalid', `It cannot be written as JSON: ${reason}`, { cause: error })
  }
}

/** Asks for JSON. The server answers with what the contract says; nothing here checks it a second time. */
export async function requestJson<T>(http: HttpClient, options: RequestOptions): Promise<T> {
  const result = await request(http, options)
  return parseResponse(await textOf(result, options), result) as T
}

/** Read to its end, a connection can be used again. */
async function textOf({ response, cancellation }: RequestResult, { bytes }: RequestOptions): Promise<string> {
  try {
    return await response.text()
  } catch (error) {
    throw cancellation.error(error)
  } finally {
    cancellation.release()
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
    throw connectionFailed(`${endpoint}: expected JSON, got something else with ${status}.`, error, status)
  }
}

/** Asks for something to be done that has no answer. */
export async function requestVoid(http: HttpClient, options: RequestOptions): Promise<void> {
  const result = await request(http, options)
  const text = await textOf(result, options)
  // What took long has begun as a success; what came of it is known now.
  if (text.trim() !== '') parseResponse(text, result)
}
