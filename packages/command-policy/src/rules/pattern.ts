import { displayText, knownEnds, literalValue, type Word } from '../shell/word.ts'

/** The literal texts between the wildcards of a word; a single text means no wildcard. */
export type Pattern = readonly string[]

export function isWildcard(pattern: Pattern): boolean {
  return pattern.length > 1 && pattern.every((text) => text === '')
}

/** A wildcard matches any characters, including slashes. */
export function matches(pattern: Pattern, text: string): boolean {
  const [first = '', ...rest] = pattern
  const last = rest.pop()
  if (last === undefined) return text === first
  if (!text.startsWith(first)) return false
  let at = first.length
  for (const middle of rest) {
    const found = text.indexOf(middle, at)
    if (found < 0) return false
    at = found + middle.length
  }
  return text.length - last.length >= at && text.endsWith(last)
}

/** Whether every possible value of the word matches, or the word as written. */
export function surelyMatches(pattern: Pattern, word: Word): boolean {
  const known = literalValue(word)
  if (known !== undefined) return matches(pattern, known) || matches(pattern, normalPath(known))
  if (isWildcard(pattern) || matches(pattern, displayText(word))) return true
  const [first, last, ...more] = pattern
  if (first === undefined || last === undefined || more.length > 0) return false
  const { before, after } = knownEnds(word)
  return before.startsWith(first) && after.endsWith(last)
}

/** Whether some possible value of the word may match; errs on the side of a match. */
export function possiblyMatches(pattern: Pattern, word: Word): boolean {
  if (literalValue(word) !== undefined) return surelyMatches(pattern, word)
  if (word.pieces.some((piece) => piece.kind === 'hole' && piece.yields === 'fields')) return true
  const { before, after } = knownEnds(word)
  const [first = ''] = pattern
  const last = pattern.at(-1) ?? ''
  const prefixes = before.startsWith(first) || first.startsWith(before)
  return prefixes && (after.endsWith(last) || last.endsWith(after))
}

/** Normalises `//etc/./x/..` to `/etc`, without resolving links, since rules match the written text. */
export function normalPath(path: string): string {
  if (!path.includes('/')) return path
  const segments: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.') continue
    if (segment === '..' && segments.length > 0 && segments.at(-1) !== '..') segments.pop()
    else if (segment !== '..' || !path.startsWith('/')) segments.push(segment)
  }
  const joined = segments.join('/')
  if (path.startsWith('/')) return `/${joined}`
  return path.startsWith('./') ? `./${joined}` : joined
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

const systemFolders = new Set(['/bin', '/sbin', '/usr/bin', '/usr/sbin', '/usr/local/bin'])

/** Whether a program is given by a bare name or in a system folder; `./env` and `/tmp/env` may be anything. */
export function isInstalled(program: string): boolean {
  const slash = program.lastIndexOf('/')
  return slash < 0 || systemFolders.has(program.slice(0, slash))
}
