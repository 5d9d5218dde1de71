import { type CallContext, isTraceparent, type OnObserverError, VitrineError } from '@vitrine/protocol'
import { defaultTiming, type Timing } from './timing.ts'

export interface HttpClientOptions {
  /** URL of the daemon: `http://127.0.0.1:8700`. In a browser it may be relative to the page. */
  readonly url: string
  readonly token?: string
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>
  readonly fetch?: typeof globalThis.fetch
  /** Time limit of a GET request, default 30 s. Requests that change something have none. */
  readonly timeoutMs?: number
  /** Called for each error of an observer: a listener of a session or a terminal, `onProgress`. */
  readonly onObserverError?: OnObserverError
}

interface RequestScope {
  readonly parts: readonly string[]
  readonly context: CallContext
  readonly handle?: ClosableHandle
}

/** A handle that can be closed before the client. Closing the client closes it too. */
interface ClosableHandle {
  readonly closing: AbortSignal
  close(): void
}

/** URL, token, headers and timing that all requests to one daemon share. */
export class HttpClient {
  readonly url: string
  readonly token: string | undefined
  readonly timeoutMs: number
  readonly timing: Timing
  /** The first segments of every path. */
  readonly parts: readonly string[]
  readonly #options: HttpClientOptions
  readonly #closing: AbortController
  readonly #context: CallContext
  readonly #handle: ClosableHandle | undefined

  constructor(
    options: HttpClientOptions,
    timing: Timing = defaultTiming,
    closing = new AbortController(),
    scope: RequestScope = { parts: [], context: {} },
  ) {
    this.url = baseOf(options.url)
    this.token = options.token
    this.timeoutMs = options.timeoutMs ?? 30_000
    this.timing = timing
    this.parts = scope.parts
    this.#options = options
    this.#closing = closing
    this.#context = scope.context
    this.#handle = scope.handle
  }

  /** A client whose paths begin with more segments. */
  at(...parts: readonly string[]): HttpClient {
    return this.#scoped({ parts: [...this.parts, ...parts], context: this.#context })
  }

  /** A client whose requests carry the context. */
  as(context: CallContext): HttpClient {
    return this.#scoped({ parts: this.parts, context: { ...this.#context, ...context } })
  }

  /** A client whose requests can be ended with `closeHandle`, without closing this one. */
  newHandle(): HttpClient {
    const own = new AbortController()
    const closing = AbortSignal.any([this.closing, own.signal])
    const handle = { closing, close: () => own.abort('sandbox handle') }
    return this.#scoped({ parts: this.parts, context: this.#context, handle })
  }

  #scoped(scope: RequestScope): HttpClient {
    const handle = scope.handle ?? this.#handle
    return new HttpClient(this.#options, this.timing, this.#closing, { ...scope, ...(handle && { handle }) })
  }

  get onObserverError(): OnObserverError | undefined {
    return this.#options.onObserverError
  }

  /** Aborts when the client or this handle is closed, with the name of what was closed. */
  get closing(): AbortSignal {
    return this.#handle?.closing ?? this.#closing.signal
  }

  /** Aborts every request that is in progress. */
  close(): void {
    this.#closing.abort('client')
  }

  /** Aborts every request of this handle. */
  closeHandle(): void {
    this.#handle?.close()
  }

  fetch(url: string, init: RequestInit): Promise<Response> {
    // Called without `this`: browsers refuse `fetch` as a method of another object.
    const { fetch = globalThis.fetch } = this.#options
    return fetch(url, init)
  }

  headers(): Record<string, string> {
    const { run, session, turn, actor, traceparent } = this.#context
    const named = {
      'vitrine-run': run,
      'vitrine-session': session,
      'vitrine-turn': turn,
      'vitrine-actor': actor,
    }
    const context = Object.entries(named).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, encodeURIComponent(value.toWellFormed())]],
    )
    return {
      ...this.#options.headers,
      ...(this.token !== undefined && { authorization: `Bearer ${this.token}` }),
      ...Object.fromEntries(context),
      ...(traceparent !== undefined && { traceparent: checkedTraceparent(traceparent) }),
    }
  }
}

function baseOf(url: string): string {
  const { location } = globalThis as { location?: { href: string } }
  try {
    const { origin, pathname } = new URL(url, location?.href)
    return `${origin}${pathname.replace(/\/+$/, '')}`
  } catch (error) {
    throw new VitrineError(
      'argument_invalid',
      `url: expected a URL such as http://127.0.0.1:8700, got ${JSON.stringify(url)}.`,
      { cause: error },
    )
  }
}

/** Servers ignore a malformed traceparent, as W3C requires; callers of this API get an error instead. */
function checkedTraceparent(value: string): string {
  if (isTraceparent(value) && /^[\x21-\x7e]*$/.test(value)) return value
  throw new VitrineError(
    'argument_invalid',
    'traceparent: expected the W3C form 00-<32 hex>-<16 hex>-<2 hex>.',
  )
}
