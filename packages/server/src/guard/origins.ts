import { VitrineError } from '@vitrine/protocol'
import { shown } from '@vitrine/protocol/primitives'
import { hostName } from './host-header.ts'

/** The origins whose pages may call the daemon; none by default. */
export class Origins {
  readonly #allowed: ReadonlySet<string>

  constructor(allowed: readonly string[] = []) {
    for (const origin of allowed) checkOrigin(origin)
    this.#allowed = new Set(allowed)
  }

  /** Returns the origin for the CORS headers, undefined for no origin or the daemon's own; throws for others. */
  check(origin: string | null | undefined, host: string | null | undefined): string | undefined {
    if (origin === null || origin === undefined) return undefined
    if (this.#allowed.has(origin)) return origin
    if (isOwn(origin, host)) return undefined
    throw new VitrineError('origin_refused', `The origin ${shown(origin)} may not call the daemon.`)
  }
}

function isOwn(origin: string, host: string | null | undefined): boolean {
  if (host === null || host === undefined || hostName(host) === undefined) return false
  const lower = host.toLowerCase()
  return origin === `http://${lower}` || origin === `https://${lower}`
}

function checkOrigin(origin: string): void {
  if (URL.canParse(origin) && new URL(origin).origin === origin) return
  throw new VitrineError(
    'argument_invalid',
    `cors: expected an origin such as https://app.example.com, got ${JSON.stringify(origin)}.`,
  )
}

export function corsHeaders(origin: string): Record<string, string> {
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'content-range, accept-ranges, content-length, etag, location',
    vary: 'origin',
  }
}

export function preflightHeaders(origin: string): Record<string, string> {
  return {
    ...corsHeaders(origin),
    'access-control-allow-methods': 'GET, POST, PUT, DELETE',
    'access-control-allow-headers':
      'authorization, content-type, range, last-event-id, traceparent, vitrine-run, vitrine-session, vitrine-turn, vitrine-actor, vitrine-call, vitrine-cancelled, vitrine-keepalive, vitrine-start',
    'access-control-max-age': '600',
  }
}
