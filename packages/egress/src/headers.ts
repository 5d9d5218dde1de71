/** Headers by lower-case name, each with all its values. */
export type HeaderValues = Readonly<Record<string, readonly string[] | undefined>>

/** Headers between a client and the proxy, which are not forwarded. */
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

/** Headers that define a message's length and target: forwarded even if `Connection` names them. */
const framing = new Set(['content-length', 'host'])

/** Returns the headers that are forwarded. */
export function endToEndHeaders(headers: HeaderValues): Map<string, string | string[]> {
  const named = new Set(tokens(headers.connection))
  const forwarded = new Map<string, string | string[]>()
  for (const [name, values = []] of Object.entries(headers)) {
    if (hopByHop.has(name) || (named.has(name) && !framing.has(name))) continue
    const [only] = values
    if (only !== undefined) forwarded.set(name, values.length === 1 ? only : [...values])
  }
  return forwarded
}

/** Splits a comma-separated header into lower-case tokens. */
export function tokens(values: readonly string[] | undefined): string[] {
  return (values ?? []).flatMap((value) => value.split(',')).map((token) => token.trim().toLowerCase())
}
