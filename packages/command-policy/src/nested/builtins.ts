import type { SimpleCommand } from '../shell/script.ts'
import { displayText, literalValue, type Word } from '../shell/word.ts'
import { isLoaderVariable } from '../variables.ts'
import { guessesOf, type NestedCommands, noNestedCommands } from './nested-commands.ts'

const alwaysUncertain = new Map([
  ['.', 'it runs a script whose content is not known'],
  ['source', 'it runs a script whose content is not known'],
  ['[[', 'it may evaluate arithmetic, which may run commands'],
  ['let', 'it evaluates arithmetic, which may run commands'],
  ['declare', 'it may evaluate arithmetic, which may run commands'],
  ['typeset', 'it may evaluate arithmetic, which may run commands'],
  ['alias', 'it changes what a name runs'],
  ['hash', 'it changes what a name runs'],
  ['enable', 'it changes what a name runs'],
  ['autoload', 'it changes what a name runs'],
  ['shopt', 'it changes how the shell reads what follows'],
  ['bind', 'it sets a command to run later'],
  ['complete', 'it sets a command to run later'],
  ['compgen', 'it may run a command'],
  ['fc', 'it runs earlier commands again'],
  ['emulate', 'it changes how the shell reads what follows'],
  ['zmodload', 'it changes what a name runs'],
  ['sched', 'it sets a command to run later'],
])

const setsVariables = new Set([
  'export',
  'readonly',
  'local',
  'read',
  'unset',
  'getopts',
  'mapfile',
  'readarray',
  'wait',
])

/** Finds the commands that a shell builtin runs or affects; undefined if the program is not such a builtin. */
export function nestedInBuiltin(program: string, { words }: SimpleCommand): NestedCommands | undefined {
  const args = words.slice(1)
  const reason = alwaysUncertain.get(program)
  if (reason !== undefined) return { ...noNestedCommands, uncertainties: [reason] }
  if (program === 'eval') return script('it runs a string as a command', args)
  if (program === 'trap') return script('it sets a command to run later', args.slice(0, 1))
  if (program === 'set')
    return uncertainIf(!args.every(isHarmlessSetting), 'it changes how the shell reads what follows')
  if (program === 'printf' || program === 'test' || program === '[') {
    return uncertainIf(
      args.some((word) => displayText(word).startsWith('-v')),
      'it may evaluate arithmetic, which may run commands',
    )
  }
  if (program === 'history')
    return uncertainIf(
      args.some((word) => /^-[anrwps]/.test(displayText(word))),
      'it reads or writes commands that are run later',
    )
  if (/^(mapfile|readarray)$/.test(program) && args.some((word) => /^-[a-zA-Z]*C/.test(displayText(word))))
    return script('it runs a command for the lines that it reads', args)
  if (program === 'jobs' && args.length > 1)
    return { ...noNestedCommands, uncertainties: ['it runs a command'], guesses: guessesOf(words) }
  if (!setsVariables.has(program)) return undefined
  return uncertainIf(!args.every(isHarmlessName), 'it may set a variable that changes what runs')
}

function uncertainIf(uncertain: boolean, reason: string): NestedCommands {
  return uncertain ? { ...noNestedCommands, uncertainties: [reason] } : noNestedCommands
}

function script(reason: string, words: readonly Word[]): NestedCommands {
  const text = words.map((word) => literalValue(word) ?? displayText(word)).join(' ')
  return { ...noNestedCommands, uncertainties: [reason], scripts: [{ text, dialect: 'posix' }] }
}

function isHarmlessSetting(word: Word): boolean {
  return /^([-+][efux]*o?|pipefail|errexit|nounset|xtrace|noglob)$/.test(literalValue(word) ?? '?')
}

function isHarmlessName(word: Word): boolean {
  const text = displayText(word)
  if (literalValue(word) !== undefined && /^(-[A-Za-z]+|[0-9.]+|%.*|:?[A-Za-z]*:?)$/.test(text))
    return !isLoaderVariable(text)
  const [, name] = /^([A-Za-z_]\w*)(=|$)/s.exec(text) ?? []
  return name !== undefined && !isLoaderVariable(name)
}
