/** Shorter values would match ordinary words, which would then be redacted too. */
const minSecretLength = 8

/** Finds the secrets in a login file: values under a secret name, in JSON or in `NAME=value` lines. */
export function findSecrets(content: string): string[] {
  const found = new Set<string>()
  const parsed = parse(content)
  if (parsed === undefined) for (const value of secretAssignments(content)) found.add(value)
  else collect(parsed, false, found)
  return [...found].filter((value) => value.length >= minSecretLength)
}

/**
 * Whether a field or variable name says that its value is a secret.
 *
 * @example
 * isSecretName('refreshToken') // true
 * isSecretName('monkey') // false
 */
export function isSecretName(name: string): boolean {
  // Keys that are paths or URLs are not field names, whatever words they contain.
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

function collect(value: unknown, isSecret: boolean, found: Set<string>): void {
  if (typeof value === 'string') {
    if (isSecret) found.add(value)
    return
  }
  if (typeof value !== 'object' || value === null) return
  const named = !Array.isArray(value)
  for (const [name, inner] of Object.entries(value))
    collect(inner, isSecret || (named && isSecretName(name)), found)
}

function secretAssignments(content: string): string[] {
  return [...content.matchAll(/^\s*(?:export\s+)?([\w.-]+)\s*[=:]\s*(["']?)(.*?)\2\s*$/gm)].flatMap(
    ([, name = '', , value = '']) => (isSecretName(name) ? [value] : []),
  )
}
