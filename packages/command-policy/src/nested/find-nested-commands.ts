import { baseName, isInstalled } from '../rules/pattern.ts'
import type { SimpleCommand } from '../shell/script.ts'
import { literalValue } from '../shell/word.ts'
import { nestedInBuiltin } from './builtins.ts'
import { nestedInEditingProgram } from './editing-programs.ts'
import { nestedInFind } from './find.ts'
import { isLauncher, nestedInInterpreter } from './interpreters.ts'
import { guessesOf, type NestedCommands, noNestedCommands } from './nested-commands.ts'
import { isShell, nestedInShell } from './shells.ts'
import { wrappers } from './wrapper-table.ts'
import { nestedInWrapper } from './wrappers.ts'

export function findNestedCommands(command: SimpleCommand): NestedCommands {
  const [first] = command.words
  const text = first && literalValue(first)
  if (text === undefined) return noNestedCommands
  const program = baseName(text).toLowerCase()
  const wrapper = wrappers.get(program)
  if (wrapper) {
    const nested = nestedInWrapper(wrapper, command)
    return { ...nested, onlyRunsNested: nested.onlyRunsNested && isInstalled(text) }
  }
  if (isShell(program)) return nestedInShell(program, command)
  if (program === 'find') return nestedInFind(command)
  if (isLauncher(program)) return nestedInLauncher(command)
  return (
    nestedInBuiltin(program, command) ??
    nestedInEditingProgram(program, command) ??
    nestedInInterpreter(program, command) ??
    noNestedCommands
  )
}

function nestedInLauncher({ words }: SimpleCommand): NestedCommands {
  const scripts = words.flatMap((word) => {
    const text = literalValue(word)
    return text?.includes(' ') ? [{ text, dialect: 'posix' as const }] : []
  })
  return {
    ...noNestedCommands,
    uncertainties: ['it runs another command in its own way'],
    guesses: guessesOf(words),
    scripts,
  }
}
