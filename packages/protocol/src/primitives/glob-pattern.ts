import { VitrineError } from '../errors/vitrine-error.ts'

/** Whether a pattern matches an entry with this path and name. */
export type GlobPattern = (path: string, name: string) => boolean

/**
 * A pattern with `*` and `?` within names, and `**` for any number of directories. A pattern with a `/` is matched
 * against the path, one without against the name alone. It is not compiled to a regular expression, so no pattern can
 * cause exponential backtracking.
 */
export function globPattern(pattern: string, ignoreCase = false): GlobPattern {
  if (typeof pattern !== 'string' || pattern === '' || pattern.length > 1_000)
    throw new VitrineError('argument_invalid', 'name: expected a pattern of 1 to 1,000 characters.')
  const fold = (text: string) => (ignoreCase ? text.toLowerCase() : text)
  const wanted = fold(pattern.replace(/^\.?\//, ''))
  if (!pattern.includes('/')) return (_, name) => matchName(wanted, fold(name))
  const parts = wanted.split('/')
  return (path) => matchPath(parts, fold(path).split('/'))
}

/** Backtracks to the last star only, so the cost is at most the product of the lengths. */
export function matchName(pattern: string, name: string): boolean {
  return matchList([...pattern], [...name], '*', (wanted, got) => wanted === '?' || wanted === got)
}

function matchPath(pattern: readonly string[], path: readonly string[]): boolean {
  return matchList(pattern, path, '**', matchName)
}

function matchList(
  pattern: readonly string[],
  text: readonly string[],
  any: string,
  matches: (wanted: string, got: string) => boolean,
): boolean {
  let at = 0
  let star = -1
  let starText = 0
  let next = 0
  while (next < text.length) {
    if (at < pattern.length && pattern[at] === any) {
      star = at
      starText = next
      at += 1
    } else if (at < pattern.length && matches(pattern[at]!, text[next]!)) {
      at += 1
      next += 1
    } else if (star >= 0) {
      at = star + 1
      starText += 1
      next = starText
    } else return false
  }
  while (pattern[at] === any) at += 1
  return at === pattern.length
}
