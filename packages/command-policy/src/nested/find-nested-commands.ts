import { baseName, isInstalled } from '../rules/pattern.ts'
import type { SimpleCommand } from '../shell/script.ts'
import { literalValue } from '../shell/word.ts'
import { nestedInBuiltin } from './builtins.ts'
import { nestedInCarrier } from './carriers.ts'
import { nestedInEditingProgram } from './editing-programs.ts'
import { nestedInFind } from './find.ts'
import { nestedInGit } from './git.ts'
import { nestedInInterpreter } from './interpreters.ts'
import { nestedInLauncher } from './launchers.ts'
import { type NestedCommands, noNestedCommands } from './nested-commands.ts'
import { isShell, nestedInShell } from './shells.ts'
import { startupFileWritten } from './startup-files.ts'
import { wrappers } from './wrapper-table.ts'
import { nestedInWrapper } from './wrappers.ts'

export function findNestedCommands(command: SimpleCommand): NestedCommands {
  const [first] = command.words
  const text = first && literalValue(first)
  if (text === undefined) return noNestedCommands
  const program = baseName(text).toLowerCase()
  const wrapper = wrappers.get(program === 'time' && text !== 'time' ? 'gnu time' : program)
  if (wrapper) {
    const nested = nestedInWrapper(wrapper, command)
    return { ...nested, onlyRunsNested: nested.onlyRunsNested && isInstalled(text) }
  }
  const nested = nestedIn(program, command) ?? nestedInVersioned(program, command) ?? noNestedCommands
  const written = startupFileWritten(program, command.words)
  return written === undefined ? nested : { ...nested, uncertainties: [...nested.uncertainties, written] }
}

function nestedIn(program: string, command: SimpleCommand): NestedCommands | undefined {
  if (isShell(program)) return nestedInShell(program, command)
  if (program === 'find') return nestedInFind(command)
  if (program === 'git') return nestedInGit(command)
  return (
    nestedInCarrier(program, command) ??
    nestedInBuiltin(program, command) ??
    nestedInInterpreter(program, command) ??
    nestedInEditingProgram(program, command) ??
    nestedInLauncher(program, command)
  )
}

/** `python3.12` is a python, `gcc-13` a gcc, `bash5.2` a bash. */
function nestedInVersioned(program: string, command: SimpleCommand): NestedCommands | undefined {
  const family = program.replace(/(?<![0-9.])-?[0-9][0-9.]*$/, '')
  return family === program || family === '' ? undefined : nestedIn(family, command)
}
