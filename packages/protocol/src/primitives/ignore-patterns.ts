import { globPattern, matchName } from './glob-pattern.ts'

/** Whether an entry with this path and name is ignored. */
export interface Ignored {
  (path: string, name: string): boolean
  /** Some patterns match paths, so a move can change whether an entry is ignored. */
  readonly byPath: boolean
}

/**
 * Compiles ignore patterns. A pattern without `/` matches a name at any depth, one with `/` a path from the root. Entries
 * below an ignored directory are never visited, so they need not match.
 */
export function ignoreMatcher(patterns: readonly string[]): Ignored {
  const exact = new Set(patterns.filter((pattern) => !/[*?/]/.test(pattern)))
  const names = patterns.filter((pattern) => /[*?]/.test(pattern) && !pattern.includes('/'))
  const paths = patterns
    .filter((pattern) => pattern.includes('/'))
    .map((pattern) => globPattern(trimmed(pattern)))
  const ignored = (path: string, name: string) =>
    exact.has(name) ||
    names.some((pattern) => matchName(pattern, name)) ||
    paths.some((matches) => matches(path, name))
  return Object.assign(ignored, { byPath: paths.length > 0 })
}

/** Whether a path or a directory above it is ignored. */
export function isBelowIgnored(ignored: Ignored, path: string): boolean {
  return path.split('/').some((name, at, names) => ignored(names.slice(0, at + 1).join('/'), name))
}

/** Removes leading and trailing slashes, but keeps one for a path of a single name, so that it stays a path pattern. */
function trimmed(pattern: string): string {
  const path = pattern.replace(/\/+$/, '').replace(/^\.?\//, '')
  return path.includes('/') ? path : `/${path}`
}
