import { knownEnds, knownText, shownText, type Word } from '../shell/word.ts'

/** The literal texts between the wildcards of one word; a single one has no wildcard. */
export type Pattern = readonly string[]

export function isAnything(pattern: Pattern): boolean {
  return pattern.length > 1 && pattern.every((text) => text === '')
}

/** A wildcard stands for any characters, slashes too. */
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

/** Whether every value the word may turn out to have matches, or the word as it is written. */
export function surelyMatches(pattern: Pattern, word: Word): boolean {
  const known = knownText(word)
  if (known !== undefined) return matches(pattern, known) || matches(pattern, normalPath(known))
  if (isAnything(pattern) || matches(pattern, shownText(word))) return true
  const [first, last, ...more] = pattern
  if (first === undefined || last === undefined || more.length > 0) return false
  const { before, after } = knownEnds(word)
  return before.startsWith(first) && after.endsWith(last)
}

/** Whether some value the word may turn out to have matches; rather too often than too rarely. */
export function possiblyMatches(pattern: Pattern, word: Word): boolean {
  if (knownText(word) !== undefined) return surelyMatches(pattern, word)
  if (word.pieces.some((piece) => piece.kind === 'hole' && piece.yields === 'fields')) return true
  const { before, after } = knownEnds(word)
  const [first = ''] = pattern
  const last = pattern.at(-1) ?? ''
  const prefixes = before.startsWith(first) || first.startsWith(before)
  return prefixes && (after.endsWith(last) || last.endsWith(after))
}

/** `//etc/./x/..` as `/etc`: without looking at links, as rules are about what is written. */
export function normalPath(path: string): string {
  if (!path.includes('/')) return path
  const kept: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.') continue
    if (segment === '..' && kept.length > 0 && kept.at(-1) !== '..') kept.pop()
    else if (segment !== '..' || !path.startsWith('/')) kept.push(segment)
  }
  const joined = kept.join('/')
  if (path.startsWith('/')) return `/${joined}`
  return path.startsWith('./') ? `./${joined}` : joined
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
