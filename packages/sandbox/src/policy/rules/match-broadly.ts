import type { SimpleCommand } from '../shell/script.ts'
import { knownText, type Word } from '../shell/word.ts'
import { writtenFiles } from '../writes.ts'
import { type Arguments, sortArguments } from './arguments.ts'
import { isUnordered } from './flags.ts'
import {
  baseName,
  isAnything,
  matches,
  normalPath,
  type Pattern,
  possiblyMatches,
  surelyMatches,
} from './pattern.ts'
import type { CompiledRule, FlagDemand } from './rule.ts'

/** `maybe` where it depends on what only running the command would tell. A program that is not known is no match. */
export type Match = 'yes' | 'maybe' | 'no'

/**
 * For rules that deny or ask. The rule's flags must be there, in any order and bundle, among any others. Its
 * other words must be there in their order from the first on; what may be the value of a flag may stand
 * between them, and further arguments never take a command out of a rule.
 */
export function matchBroadly(rule: CompiledRule, { words, redirections }: SimpleCommand): Match {
  const program = matchProgram(rule, words[0])
  if (program === 'no') return 'no'
  const name = baseName((words[0] && knownText(words[0])) ?? '').toLowerCase()
  const sorted = sortArguments(name, words.slice(1))
  const files = writtenFiles(redirections)
  const holds = (test: (pattern: Pattern, word: Word) => boolean, open: boolean) =>
    rule.flags.every((flag) => open || hasFlag(flag, sorted)) &&
    hasOperands(rule.operands, sorted, test, isUnordered(name)) &&
    rule.writes.every((write) => files.some((file) => test(write, file)))
  if (program === 'yes' && holds(surelyMatches, false)) return 'yes'
  return holds(possiblyMatches, sorted.openFlags) ? 'maybe' : 'no'
}

function matchProgram({ program, byPath }: CompiledRule, word: Word | undefined): Match {
  if (isAnything(program)) return 'yes'
  const text = word && knownText(word)
  if (text === undefined) return 'no'
  // Where file names ignore case, so do programs.
  const lower = program.map((part) => part.toLowerCase())
  const base = baseName(text).toLowerCase()
  if (!byPath) return matches(lower, base) ? 'yes' : 'no'
  if (matches(lower, normalPath(text).toLowerCase())) return 'yes'
  // A bare name or a relative path may lead to the same file.
  const last = lower.at(-1) ?? ''
  const sameName = last.includes('/') ? baseName(last) === base : base.endsWith(last)
  return sameName && !text.startsWith('/') ? 'maybe' : 'no'
}

function hasFlag(demand: FlagDemand, { letters, longs, flags }: Arguments): boolean {
  switch (demand.kind) {
    case 'letters':
      return demand.letters.every((letter) => letters.has(letter))
    case 'long':
      return longs.some((long) => demand.name.startsWith(long))
    case 'written':
      return flags.some((flag) => matches(demand.pattern, flag))
  }
}

/** Follows every way to read the operands at once: each position is how many of the rule's words were found. */
function hasOperands(
  demands: readonly Pattern[],
  { operands }: Arguments,
  test: (pattern: Pattern, word: Word) => boolean,
  unordered: boolean,
): boolean {
  let positions = pastAnything(demands, new Set([0]))
  for (const { word, skippable } of operands) {
    if (positions.has(demands.length)) return true
    const next = new Set<number>()
    for (const position of positions) {
      const demand = demands[position]
      if (demand === undefined) continue
      if (skippable || unordered || isAnything(demand)) next.add(position)
      if (test(demand, word)) next.add(position + 1)
      if (test === possiblyMatches && isSeveral(word))
        for (let at = position; at <= demands.length; at += 1) next.add(at)
    }
    positions = pastAnything(demands, next)
  }
  return positions.has(demands.length)
}

/** A lone wildcard may also stand for nothing. */
function pastAnything(demands: readonly Pattern[], positions: Set<number>): Set<number> {
  for (const position of positions) {
    const demand = demands[position]
    if (demand && isAnything(demand)) positions.add(position + 1)
  }
  return positions
}

function isSeveral(word: Word): boolean {
  return word.pieces.some((piece) => piece.kind === 'hole' && piece.yields !== 'one')
}
