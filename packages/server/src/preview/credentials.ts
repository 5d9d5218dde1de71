import { tokenPrefix } from '../guard/tokens.ts'

/** Whether a text contains a token of the daemon. */
export type ContainsToken = (text: string) => boolean

/** How often a text may be percent-encoded and is still recognized. */
const encodings = 3

/** The value of a request header without the daemon's tokens; undefined if nothing of it may pass. */
export function withoutTokens(
  name: string,
  value: string | readonly string[],
  containsToken: ContainsToken,
): string | string[] | undefined {
  if (typeof value !== 'string') {
    const passed = value
      .map((one) => withoutTokens(name, one, containsToken))
      .filter((one) => one !== undefined)
    return passed.length === 0 ? undefined : passed.flat()
  }
  const carriesToken = (text: string) => isCarried(text, containsToken)
  switch (name) {
    case 'cookie':
      return keepParts(value, '; ', /;\s*/, carriesToken)
    case 'sec-websocket-protocol':
      return keepParts(
        value,
        ', ',
        /\s*,\s*/,
        (part) => part.toLowerCase().startsWith(tokenPrefix) || carriesToken(part),
      )
    default:
      return carriesToken(value) ? undefined : value
  }
}

/** A query, with its `?`, without the parameters that contain a token of the daemon. The others stay as they are. */
export function searchWithoutTokens(search: string, containsToken: ContainsToken): string {
  const carriesToken = (text: string) => isCarried(text, containsToken)
  if (!carriesToken(search)) return search
  const kept = keepParts(search.slice(1), '&', '&', carriesToken)
  return kept === undefined ? '' : `?${kept}`
}

function keepParts(
  text: string,
  separator: string,
  pattern: string | RegExp,
  isRemoved: (part: string) => boolean,
): string | undefined {
  const parts = text.split(pattern)
  const kept = parts.filter((part) => !isRemoved(part))
  if (kept.length === parts.length) return isRemoved(text) ? undefined : text
  const rest = kept.join(separator)
  return rest === '' || isRemoved(rest) ? undefined : rest
}

/** Whether the name of a request header is or contains a token. Node has made it lower case. */
export function isNamedByToken(name: string, containsToken: ContainsToken): boolean {
  return isCarried(name, containsToken)
}

function isCarried(text: string, containsToken: ContainsToken): boolean {
  let decoded = text
  for (let count = 0; count <= encodings; count += 1) {
    if (containsToken(decoded) || isInBase64(decoded, containsToken)) return true
    if (!decoded.includes('%')) return false
    decoded = decoded.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    )
  }
  return false
}

/** The fewest characters of base64 that can hold a token. */
const base64Run = /[A-Za-z0-9+/_-]{11,}/g

/** Basic authentication, and any other place: a run of base64 may begin at any of four positions. */
function isInBase64(text: string, containsToken: ContainsToken): boolean {
  for (const [run] of text.matchAll(base64Run))
    for (let start = 0; start < 4; start += 1)
      if (containsToken(Buffer.from(run.slice(start), 'base64').toString('latin1'))) return true
  return false
}
