/** Stand for a bare `…` in the JSON of a pattern. No response has a zero byte. */
const anyValue = '\u0000any'
const furtherEntries = '\u0000further'

/**
 * Parses a response as a page shows it: JSON in which `…` stands for the part that varies. In a string it is any text,
 * as a value any value, as the last entry of an object or list any further entries.
 */
export function parsePattern(text: string): unknown {
  const open: string[] = []
  let before = ''
  const json = text.replaceAll(/"(?:[^"\\]|\\.)*"|…|[[\]{},:]/g, (token) => {
    const isValue = before === ':'
    before = token
    if (token === '{' || token === '[') open.push(token)
    if (token === '}' || token === ']') open.pop()
    if (token !== '…') return token
    if (isValue) return JSON.stringify(anyValue)
    return JSON.stringify(furtherEntries) + (open.at(-1) === '{' ? ':0' : '')
  })
  return JSON.parse(json)
}

/** A sentence for each difference between a response and the pattern on its page. */
export function differences(pattern: unknown, actual: unknown, path = 'response'): string[] {
  if (actual === undefined) return [`${path}: missing`]
  if (pattern === anyValue) return []
  if (Array.isArray(pattern) && Array.isArray(actual)) return listDifferences(pattern, actual, path)
  if (isObject(pattern) && isObject(actual)) return objectDifferences(pattern, actual, path)
  const isSame =
    typeof pattern === 'string' && typeof actual === 'string'
      ? textPattern(pattern).test(actual)
      : pattern === actual
  return isSame
    ? []
    : [`${path}: the page shows ${JSON.stringify(pattern)}, the daemon sent ${JSON.stringify(actual)}`]
}

/** The pattern of a text in which `…` is any text. */
export function textPattern(text: string): RegExp {
  const parts = text.split('…').map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  return new RegExp(`^${parts.join('[^]+?')}$`)
}

function listDifferences(pattern: readonly unknown[], actual: readonly unknown[], path: string): string[] {
  const shown = pattern.filter((item) => item !== furtherEntries)
  if (shown.length === pattern.length && actual.length > shown.length)
    return [`${path}: the page shows ${shown.length} entries, the daemon sent ${actual.length}`]
  return shown.flatMap((item, index) => differences(item, actual[index], `${path}[${index}]`))
}

type JsonObject = Readonly<Record<string, unknown>>

function objectDifferences(pattern: JsonObject, actual: JsonObject, path: string): string[] {
  const { [furtherEntries]: further, ...shown } = pattern
  const hidden = further === undefined ? Object.keys(actual).filter((key) => !(key in shown)) : []
  return [
    ...hidden.map((key) => `${path}.${key}: not on the page`),
    ...Object.keys(shown).flatMap((key) => differences(shown[key], actual[key], `${path}.${key}`)),
  ]
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
