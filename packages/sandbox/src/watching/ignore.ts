import { matchName, namePattern } from '../files/name-pattern.ts'
import { stagingInside } from '../files/staging.ts'

/** Whether a path, or its last name, is passed over. */
export interface Ignored {
  (path: string, name: string): boolean
  /** It depends on where something is: that may change with a move. */
  readonly byPath: boolean
}

/** Names are meant anywhere, paths from the root. What is below is not looked at, so it need not match. */
export function ignoring(patterns: readonly string[]): Ignored {
  const exact = new Set([stagingInside, ...patterns.filter((pattern) => !/[*?/]/.test(pattern))])
  const names = patterns.filter((pattern) => /[*?]/.test(pattern) && !pattern.includes('/'))
  const paths = patterns
    .filter((pattern) => pattern.includes('/'))
    .map((pattern) => namePattern(trimmed(pattern)))
  const ignored = (path: string, name: string) =>
    exact.has(name) ||
    names.some((pattern) => matchName(pattern, name)) ||
    paths.some((matches) => matches(path, name))
  return Object.assign(ignored, { byPath: paths.length > 0 })
}

/** A path of one name is still a path. */
function trimmed(pattern: string): string {
  const path = pattern.replace(/\/+$/, '').replace(/^\.?\//, '')
  return path.includes('/') ? path : `/${path}`
}
