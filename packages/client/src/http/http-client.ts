import { type CallContext, isTraceparent, VitrineError } from '@vitrine/protocol'
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
}

interface RequestScope {
  readonly parts: readonly string[]
  readonly context: CallContext
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
  }

  /** A client whose paths begin with more segments. */
  at(...parts: readonly string[]): HttpClient {
    return this.#scoped({ parts: [...this.parts, ...parts], context: this.#context })
  }

  /** A client whose requests carry the context. */
  as(context: CallContext): HttpClient {
    return this.#scoped({ parts: this.parts, context: { ...this.#context, ...context } })
  }

  #scoped(scope: RequestScope): HttpClient {
    return new HttpClient(this.#options, this.timing, this.#closing, scope)
  }

  get closing(): AbortSignal {
    return this.#closing.signal
  }

  /** Aborts every request that is in progress. */
  close(): void {
    this.#closing.abort()
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
