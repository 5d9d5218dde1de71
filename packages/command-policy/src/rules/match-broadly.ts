import type { SimpleCommand } from '../shell/script.ts'
import { literalValue, type Word } from '../shell/word.ts'
import { writtenFiles } from '../writes.ts'
import { type Arguments, sortArguments } from './arguments.ts'
import { isUnordered } from './flags.ts'
import {
  baseName,
  isWildcard,
  matches,
  normalPath,
  type Pattern,
  possiblyMatches,
  surelyMatches,
} from './pattern.ts'
import type { CompiledRule, FlagRequirement } from './rule.ts'

/** `maybe`: it depends on values that are known only at run time. A program that is unknown does not match. */
export type Match = 'yes' | 'maybe' | 'no'

/**
 * Matches rules that deny or ask. The rule's flags must be present, in any order and bundle, among any others. Its other
 * words must be present in order, from the first operand on; possible values of flags may come between them. Further
 * arguments never prevent a match.
 */
export function matchBroadly(rule: CompiledRule, { words, redirections }: SimpleCommand): Match {
  const program = matchProgram(rule, words[0])
  if (program === 'no') return 'no'
  const name = baseName((words[0] && literalValue(words[0])) ?? '').toLowerCase()
  const sorted = sortArguments(name, words.slice(1))
  const files = writtenFiles(redirections)
  const satisfies = (test: (pattern: Pattern, word: Word) => boolean, open: boolean) =>
    rule.flags.every((flag) => open || hasFlag(flag, sorted)) &&
    hasOperands(rule.operands, sorted, test, isUnordered(name)) &&
    rule.writes.every((write) => files.some((file) => test(write, file)))
  if (program === 'yes' && satisfies(surelyMatches, false)) return 'yes'
  return satisfies(possiblyMatches, sorted.openFlags) ? 'maybe' : 'no'
}

function matchProgram({ program, byPath }: CompiledRule, word: Word | undefined): Match {
  if (isWildcard(program)) return 'yes'
  const text = word && literalValue(word)
  if (text === undefined) return 'no'
  // On a case-insensitive file system, program names ignore case too.
  const lower = program.map((part) => part.toLowerCase())
  const base = baseName(text).toLowerCase()
  if (!byPath) return matches(lower, base) ? 'yes' : 'no'
  if (matches(lower, normalPath(text).toLowerCase())) return 'yes'
  // A bare name or a relative path may resolve to the same file.
  const last = lower.at(-1) ?? ''
  const sameName = last.includes('/') ? baseName(last) === base : base.endsWith(last)
  return sameName && !text.startsWith('/') ? 'maybe' : 'no'
}

function hasFlag(required: FlagRequirement, { letters, longs, flags }: Arguments): boolean {
  switch (required.kind) {
    case 'letters':
      return required.letters.every((letter) => letters.has(letter))
    case 'long':
      return longs.some((long) => required.name.startsWith(long))
    case 'written':
      return flags.some((flag) => matches(required.pattern, flag))
  }
}

/** Tracks all possible readings of the operands at once. A position is the number of the rule's words matched so far. */
function hasOperands(
  patterns: readonly Pattern[],
  { operands }: Arguments,
  test: (pattern: Pattern, word: Word) => boolean,
  unordered: boolean,
): boolean {
  let positions = skipWildcards(patterns, new Set([0]))
  for (const { word, skippable } of operands) {
    if (positions.has(patterns.length)) return true
    const next = new Set<number>()
    for (const position of positions) {
      const required = patterns[position]
      if (required === undefined) continue
      if (skippable || unordered || isWildcard(required)) next.add(position)
      if (test(required, word)) next.add(position + 1)
      if (test === possiblyMatches && mayBeSeveralWords(word))
        for (let at = position; at <= patterns.length; at += 1) next.add(at)
    }
    positions = skipWildcards(patterns, next)
  }
  return positions.has(patterns.length)
}

/** A lone wildcard may also match no word. */
function skipWildcards(patterns: readonly Pattern[], positions: Set<number>): Set<number> {
  for (const position of positions) {
    const required = patterns[position]
    if (required && isWildcard(required)) positions.add(position + 1)
  }
  return positions
}

function mayBeSeveralWords(word: Word): boolean {
  return word.pieces.some((piece) => piece.kind === 'hole' && piece.yields !== 'one')
}
