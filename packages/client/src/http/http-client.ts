import { type CallContext, isTraceparent, VitrineError } from '@vitrine/protocol'
import { defaultTiming, type Timing } from './timing.ts'

export interface HttpClientOptions {
  /** Where the daemon listens: `http://127.0.0.1:8700`. A page may give a path of its own origin. */
  readonly url: string
  readonly token?: string
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>
  readonly fetch?: typeof globalThis.fetch
  /** How long a question may wait for its answer, 30 s by default. What changes something may take its time. */
  readonly timeoutMs?: number
}

interface RequestScope {
  readonly parts: readonly string[]
  readonly context: CallContext
}

/** How one daemon is reached: everything that requests have in common. */
export class HttpClient {
  readonly url: string
  readonly token: string | undefined
  readonly timeoutMs: number
  readonly timing: Timing
  /** The first parts of every path. */
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

  /** The same, further down. */
  at(...parts: readonly string[]): HttpClient {
    return this.#scoped({ parts: [...this.parts, ...parts], context: this.#context })
  }

  /** The same; what is asked carries that context. */
  as(context: CallContext): HttpClient {
    return this.#scoped({ parts: this.parts, context: { ...this.#context, ...context } })
  }

  #scoped(scope: RequestScope): HttpClient {
    return new HttpClient(this.#options, this.timing, this.#closing, scope)
  }

  get closing(): AbortSignal {
    return this.#closing.signal
  }

  /** Ends every request that is under way. */
  close(): void {
    this.#closing.abort()
  }

  fetch(url: string, init: RequestInit): Promise<Response> {
    // Called bare: browsers refuse a `fetch` that belongs to something.
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
      `url: expected an address such as http://127.0.0.1:8700, got ${JSON.stringify(url)}.`,
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
