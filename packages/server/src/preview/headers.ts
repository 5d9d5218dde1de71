import { type ContainsToken, isNamedByToken, withoutTokens } from './credentials.ts'

/** Hop-by-hop headers: a proxy must not forward them. */
const hopByHopHeaders = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Response headers that affect a whole origin: removed from previews below the daemon's own origin. */
const originWideHeaders = new Set([
  'set-cookie',
  'clear-site-data',
  'x-content-type-options',
  'referrer-policy',
  'service-worker-allowed',
  'content-security-policy',
])

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/** Matches the hop-by-hop headers, and those that `Connection` lists. */
function hopByHopTest(headers: Headers): (name: string) => boolean {
  const named = new Set(
    String(headers.connection ?? '')
      .toLowerCase()
      .split(/[\s,]+/),
  )
  return (name) => hopByHopHeaders.has(name) || named.has(name)
}

/** The request headers for the program behind a port: without daemon tokens, with the port's own host. */
export function requestHeaders(
  headers: Headers,
  host: string,
  by: 'host' | 'path',
  containsToken: ContainsToken,
): Record<string, string | string[]> {
  const passed: Record<string, string | string[]> = {}
  const isOfConnection = hopByHopTest(headers)
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || isOfConnection(name) || isNamedByToken(name, containsToken)) continue
    // Cookies ignore ports: on the daemon's host they belong to every program there.
    if (by === 'path' && name === 'cookie') continue
    const kept = withoutTokens(name, value, containsToken)
    if (kept !== undefined) passed[name] = kept
  }
  passed.host = host
  return passed
}

/** The response headers for the client. Below a path of the daemon, a page must not act with its origin or set cookies. */
export function responseHeaders(headers: Headers, by: 'host' | 'path'): [string, string][] {
  const pairs: [string, string][] = []
  const isOfConnection = hopByHopTest(headers)
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || isOfConnection(name)) continue
    if (by === 'path' && originWideHeaders.has(name)) continue
    for (const one of typeof value === 'string' ? [value] : value) pairs.push([name, one])
  }
  if (by === 'path') {
    pairs.push(['content-security-policy', 'sandbox allow-scripts allow-forms allow-popups allow-modals'])
    pairs.push(['x-content-type-options', 'nosniff'])
  }
  pairs.push(['referrer-policy', 'no-referrer'])
  return pairs
}
