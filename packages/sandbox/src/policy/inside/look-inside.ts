import { isInstalled } from '../rules/installed.ts'
import { baseName } from '../rules/pattern.ts'
import type { SimpleCommand } from '../shell/script.ts'
import { knownText } from '../shell/word.ts'
import { insideBuiltin } from './builtins.ts'
import { insideEditingProgram } from './editing-programs.ts'
import { insideFind } from './find.ts'
import { guessesOf, type Inside, nothingInside } from './inside.ts'
import { insideInterpreter, isLauncher } from './interpreters.ts'
import { insideShell, isShell } from './shells.ts'
import { wrappers } from './wrapper-table.ts'
import { insideWrapper } from './wrappers.ts'

export function lookInside(command: SimpleCommand): Inside {
  const [first] = command.words
  const text = first && knownText(first)
  if (text === undefined) return nothingInside
  const program = baseName(text).toLowerCase()
  const wrapper = wrappers.get(program)
  if (wrapper) {
    const inside = insideWrapper(wrapper, command)
    return { ...inside, transparent: inside.transparent && isInstalled(text) }
  }
  if (isShell(program)) return insideShell(program, command)
  if (program === 'find') return insideFind(command)
  if (isLauncher(program)) return insideLauncher(command)
  return (
    insideBuiltin(program, command) ??
    insideEditingProgram(program, command) ??
    insideInterpreter(program, command) ??
    nothingInside
  )
}

function insideLauncher({ words }: SimpleCommand): Inside {
  const scripts = words.flatMap((word) => {
    const text = knownText(word)
    return text?.includes(' ') ? [{ text, dialect: 'posix' as const }] : []
  })
  return {
    ...nothingInside,
    doubts: ['it runs another command in its own way'],
    guesses: guessesOf(words),
    scripts,
  }
}
