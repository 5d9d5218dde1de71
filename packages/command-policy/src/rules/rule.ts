import { type Rule, VitrineError } from '@vitrine/protocol'
import { parseShell } from '../shell/parse.ts'
import type { Word } from '../shell/word.ts'
import { bundledLetters, isFlag, letterOf } from './flags.ts'
import { baseName, isWildcard, type Pattern } from './pattern.ts'

/** A flag that a rule requires: letters in any bundle, a long name, or a flag as written. */
export type FlagRequirement =
  | { readonly kind: 'letters'; readonly letters: readonly string[] }
  | { readonly kind: 'long'; readonly name: string }
  | { readonly kind: 'written'; readonly pattern: Pattern }

export interface CompiledRule {
  /** The rule as the caller wrote it. */
  readonly text: string
  readonly program: Pattern
  /** The rule names its program with a slash, so it matches only the program at that path. */
  readonly byPath: boolean
  readonly args: readonly Pattern[]
  readonly flags: readonly FlagRequirement[]
  readonly operands: readonly Pattern[]
  readonly writes: readonly Pattern[]
}

export function compileRule(rule: Rule, field: string): CompiledRule {
  const { words, writes } =
    typeof rule === 'string' ? readRule(rule, field) : { words: splitArgv(rule, field), writes: [] }
  const [program, ...args] = words
  if (!program || program.join('*') === '') throw invalid(field, 'a program first', rule)
  if (isFlag(program[0] ?? '')) throw invalid(field, 'a program before its flags', rule)
  const name = program.length === 1 ? baseName(program[0] ?? '').toLowerCase() : ''
  const end = args.findIndex((arg) => arg.length === 1 && arg[0] === '--')
  const isRequiredFlag = (arg: Pattern, index: number) => isFlag(arg.join('*')) && (end < 0 || index < end)
  return Object.freeze({
    text: typeof rule === 'string' ? rule : rule.join(' '),
    program,
    byPath: program.join('').includes('/'),
    args: Object.freeze(args),
    flags: Object.freeze(args.filter(isRequiredFlag).map((arg) => flagRequirement(name, arg))),
    operands: Object.freeze(args.filter((arg, index) => index !== end && !isRequiredFlag(arg, index))),
    writes: Object.freeze(writes),
  })
}

function flagRequirement(program: string, pattern: Pattern): FlagRequirement {
  const [flag = ''] = pattern
  if (pattern.length > 1) return { kind: 'written', pattern }
  const letter = flag.startsWith('--') ? letterOf(program, flag) : undefined
  if (letter !== undefined && !flag.includes('=')) return { kind: 'letters', letters: [letter] }
  if (flag.startsWith('--'))
    return flag.includes('=') ? { kind: 'written', pattern } : { kind: 'long', name: flag }
  const letters = bundledLetters(program, flag)
  return letters ? { kind: 'letters', letters } : { kind: 'written', pattern }
}

function readRule(rule: string, field: string): { words: Pattern[]; writes: Pattern[] } {
  const { commands, uncertainties } = parseShell(rule, 'bash')
  const [command, ...more] = commands
  if (!command || command.words.length === 0) throw invalid(field, 'a command such as "git push *"', rule)
  if (uncertainties.length > 0)
    throw invalid(field, 'a command that can be read with certainty', rule, uncertainties.join('; '))
  if (more.length > 0) {
    throw invalid(
      field,
      'one command',
      rule,
      'the parts of a list or pipeline are judged separately: write a rule for each',
    )
  }
  if (command.assignments.length > 0) throw invalid(field, 'a program first, and no assignment', rule)
  const patternOf = (word: Word) => {
    const pattern = wordPattern(word)
    if (!pattern)
      throw invalid(field, 'words whose value is known', rule, 'write * for any text, or quote it')
    return pattern
  }
  const writes = command.redirections.map(({ operator, target }) => {
    if (operator !== '>' && operator !== '>>') throw invalid(field, 'no redirection but > and >>', rule)
    return patternOf(target)
  })
  return { words: command.words.map(patternOf), writes }
}

function wordPattern(word: Word): Pattern | undefined {
  let texts = ['']
  for (const piece of word.pieces) {
    if (piece.kind === 'hole' && piece.cause === 'glob' && piece.written === '*') texts = [...texts, '']
    else if (piece.kind === 'text') texts = [...texts.slice(0, -1), `${texts.at(-1)}${piece.text}`]
    else if (piece.cause === 'tilde' || piece.cause === 'glob')
      texts = [...texts.slice(0, -1), `${texts.at(-1)}${piece.written}`]
    else return undefined
  }
  return Object.freeze(texts)
}

function splitArgv(rule: readonly string[], field: string): Pattern[] {
  if (!Array.isArray(rule) || !rule.every((word) => typeof word === 'string')) {
    throw invalid(field, 'a string or an array of strings', rule)
  }
  return rule.map((word) => Object.freeze(word.split('*')))
}

function invalid(field: string, expected: string, got: unknown, hint = 'correct the rule'): VitrineError {
  const shown = typeof got === 'function' || got === undefined ? String(got) : JSON.stringify(got)
  return new VitrineError('argument_invalid', `${field}: expected ${expected}, got ${shown}; ${hint}.`, {
    details: { argument: field },
  })
}

/** Whether the rule ends in `*`, for any further arguments. */
export function isOpen({ args }: CompiledRule): boolean {
  const last = args.at(-1)
  return last !== undefined && isWildcard(last)
}
