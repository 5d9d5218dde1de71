/** Headers by name in small letters, each with all its values. */
export type Headers = Readonly<Record<string, readonly string[] | undefined>>

/** Meant for the proxy, not for whoever is behind it. */
const hopByHop = new Set([
  'connection',
  'expect',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Say where a message ends or whom it is for: never dropped because `Connection` names them. */
const framing = new Set(['content-length', 'host'])

/** The headers that travel on. */
export function endToEnd(headers: Headers): Map<string, string | string[]> {
  const named = new Set(tokens(headers.connection))
  const kept = new Map<string, string | string[]>()
  for (const [name, values = []] of Object.entries(headers)) {
    if (hopByHop.has(name) || (named.has(name) && !framing.has(name))) continue
    const [only] = values
    if (only !== undefined) kept.set(name, values.length === 1 ? only : [...values])
  }
  return kept
}

/** The parts of a list header, in small letters. */
export function tokens(values: readonly string[] | undefined): string[] {
  return (values ?? []).flatMap((value) => value.split(',')).map((token) => token.trim().toLowerCase())
}
