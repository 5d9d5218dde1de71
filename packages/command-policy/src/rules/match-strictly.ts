import type { SimpleCommand } from '../shell/script.ts'
import { literalValue, type Word } from '../shell/word.ts'
import { writtenFiles } from '../writes.ts'
import { isFlag } from './flags.ts'
import { baseName, isInstalled, isWildcard, matches, normalPath, type Pattern } from './pattern.ts'
import { type CompiledRule, isOpen } from './rule.ts'

/**
 * Matches rules that allow: word by word, in the rule's order. A wildcard at the beginning of a word matches no flag. A
 * final `*` matches any further arguments, but no flags if the rule itself names flags.
 */
export function matchStrictly(rule: CompiledRule, { words, redirections }: SimpleCommand): boolean {
  const [program, ...args] = words
  if (!program || !isProgram(rule, program)) return false
  const open = isOpen(rule)
  const fixed = open ? rule.args.slice(0, -1) : rule.args
  if (args.length < fixed.length || (!open && args.length > fixed.length)) return false
  const further = args.slice(fixed.length)
  return (
    fixed.every((pattern, index) => isArgument(pattern, args[index])) &&
    (rule.flags.length === 0 || further.every((word) => !isFlag(literalValue(word) ?? ''))) &&
    writtenFiles(redirections).every((file) => rule.writes.some((write) => isArgument(write, file)))
  )
}

/** Whether the rule is about this program, regardless of its arguments. */
export function isProgram({ program, byPath }: CompiledRule, word: Word): boolean {
  const text = literalValue(word)
  if (text === undefined || text === '') return false
  if (isWildcard(program)) return true
  if (byPath) return staysWithin(program, text)
  return isInstalled(text) && matches(program, baseName(text))
}

/** A word with an unknown value matches a lone wildcard only: a value with `..` would leave a folder named before it. */
function isArgument(pattern: Pattern, word: Word | undefined): boolean {
  if (!word) return false
  const text = literalValue(word)
  if (text === undefined) {
    return (
      isWildcard(pattern) && word.pieces.every((piece) => piece.kind === 'text' || piece.yields === 'one')
    )
  }
  if (pattern.length > 1 && pattern[0] === '' && isFlag(text)) return false
  return staysWithin(pattern, text)
}

function staysWithin(pattern: Pattern, text: string): boolean {
  return matches(pattern, text) && (!/(^|\/)\.\.(\/|$)/.test(text) || matches(pattern, normalPath(text)))
}
