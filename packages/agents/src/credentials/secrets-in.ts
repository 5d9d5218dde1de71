/** Shorter texts are words that stand in ordinary output too. */
const shortest = 8

/** The secrets in a login file: what stands below a name that tells of one, in JSON or in `NAME=value` lines. */
export function secretsIn(content: string): string[] {
  const found = new Set<string>()
  const parsed = parse(content)
  if (parsed === undefined) for (const value of assigned(content)) found.add(value)
  else collect(parsed, false, found)
  return [...found].filter((value) => value.length >= shortest)
}

/**
 * @example
 * tellsOfSecret('refreshToken') // true
 * tellsOfSecret('monkey') // false
 */
export function tellsOfSecret(name: string): boolean {
  // A path or an address is a name for something else, whatever words are in it.
  if (name.includes('/')) return false
  const words = name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').split(/[^A-Za-z0-9]+/)
  return words.some(
    (word) =>
      /^(keys?|access|refresh|pass|passphrase|credentials?|bearer|jwt|authorization|cookie)$/i.test(word) ||
      /(token|secret|password|apikey)s?$/i.test(word),
  )
}

function parse(content: string): unknown {
  try {
    return JSON.parse(content)
  } catch {
    return undefined
  }
}

function collect(value: unknown, secret: boolean, found: Set<string>): void {
  if (typeof value === 'string') {
    if (secret) found.add(value)
    return
  }
  if (typeof value !== 'object' || value === null) return
  const named = !Array.isArray(value)
  for (const [name, inner] of Object.entries(value))
    collect(inner, secret || (named && tellsOfSecret(name)), found)
}

function assigned(content: string): string[] {
  return [...content.matchAll(/^\s*(?:export\s+)?([\w.-]+)\s*[=:]\s*(["']?)(.*?)\2\s*$/gm)].flatMap(
    ([, name = '', , value = '']) => (tellsOfSecret(name) ? [value] : []),
  )
}
