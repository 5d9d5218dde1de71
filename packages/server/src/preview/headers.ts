import { bearerToken, tokenPrefix } from '../guard/tokens.ts'

/** Of one connection, not of what goes through it. */
const ofConnection = new Set([
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

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/** What the program behind a port may see: not a token of the daemon, and its own address as the host. */
export function forwarded(
  headers: Headers,
  host: string,
  isOurs: (token: string | undefined) => boolean,
): Record<string, string | string[]> {
  const passed: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || ofConnection.has(name)) continue
    if (name === 'authorization' && isOurs(bearerToken(String(value)))) continue
    if (name === 'sec-websocket-protocol' && String(value).includes(tokenPrefix)) continue
    passed[name] = typeof value === 'string' ? value : [...value]
  }
  passed.host = host
  return passed
}

/** What comes back. Under a path of the daemon it must not act as the daemon's own page, nor leave cookies there. */
export function returned(headers: Headers, by: 'host' | 'path'): [string, string][] {
  const pairs: [string, string][] = []
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || ofConnection.has(name)) continue
    if (by === 'path' && (name === 'set-cookie' || name === 'content-security-policy')) continue
    for (const one of typeof value === 'string' ? [value] : value) pairs.push([name, one])
  }
  if (by === 'path') {
    pairs.push(['content-security-policy', 'sandbox allow-scripts allow-forms allow-popups allow-modals'])
    pairs.push(['x-content-type-options', 'nosniff'])
  }
  pairs.push(['referrer-policy', 'no-referrer'])
  return pairs
}
