import { bearerToken, tokenPrefix } from '../guard/tokens.ts'

/** Of one connection, not of what goes through it. */
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

/** What one page of an origin can do to all of it: not for a page that is shown below the daemon's. */
const originWideHeaders = new Set([
  'set-cookie',
  'clear-site-data',
  'x-content-type-options',
  'referrer-policy',
  'service-worker-allowed',
  'content-security-policy',
])

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/** Also what `Connection` itself names. */
function hopByHopTest(headers: Headers): (name: string) => boolean {
  const named = new Set(
    String(headers.connection ?? '')
      .toLowerCase()
      .split(/[\s,]+/),
  )
  return (name) => hopByHopHeaders.has(name) || named.has(name)
}

/** What the program behind a port may see: not a token of the daemon, and its own address as the host. */
export function requestHeaders(
  headers: Headers,
  host: string,
  by: 'host' | 'path',
  isDaemonToken: (token: string | undefined) => boolean,
): Record<string, string | string[]> {
  const passed: Record<string, string | string[]> = {}
  const isOfConnection = hopByHopTest(headers)
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || isOfConnection(name)) continue
    // Cookies know no ports: below the daemon's address they are those of every program there.
    if (by === 'path' && name === 'cookie') continue
    if (name === 'authorization' && isDaemonToken(bearerToken(String(value)))) continue
    if (name === 'sec-websocket-protocol' && String(value).includes(tokenPrefix)) continue
    passed[name] = typeof value === 'string' ? value : [...value]
  }
  passed.host = host
  return passed
}

/** What comes back. Under a path of the daemon it must not act as the daemon's own page, nor leave cookies there. */
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
