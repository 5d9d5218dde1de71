import { baseName, isInstalled } from '../rules/pattern.ts'
import { parseShell } from '../shell/parse.ts'
import type { SimpleCommand } from '../shell/script.ts'
import { literalValue, type Word } from '../shell/word.ts'
import { nestedInBuiltin } from './builtins.ts'
import { nestedInCarrier } from './carriers.ts'
import { nestedInEditingProgram } from './editing-programs.ts'
import { nestedInFind } from './find.ts'
import { nestedInGit } from './git.ts'
import { nestedInInterpreter } from './interpreters.ts'
import { nestedInLauncher } from './launchers.ts'
import { guessesOf, maxGuesses, type NestedCommands, noNestedCommands } from './nested-commands.ts'
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
  const nested =
    nestedIn(program, command) ?? nestedInVariant(program, command) ?? nestedInUnknown(program, command)
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

/** `python3.12` is a python, `gcc-13` and `arm-none-eabi-gcc` a gcc, `vim.gtk3` a vim. */
function nestedInVariant(program: string, command: SimpleCommand): NestedCommands | undefined {
  const family = program
    .replace(/^vim\..*/, 'vim')
    .replace(/(?<![0-9.])-?[0-9][0-9.]*$/, '')
    .replace(/^[\w.-]*-(?=(gcc|g\+\+|cc|c\+\+|clang|clang\+\+|gfortran)$)/, '')
  return family === program || family === '' ? undefined : nestedIn(family, command)
}

/** Programs whose arguments are text, files or processes. */
const runsNothing = new Set(
  (
    'echo printf cat tac nl head tail wc cut paste tr uniq comm join fold column tee grep egrep fgrep zgrep jq yq ls ' +
    'dir tree stat file du df which type whereis whatis apropos basename dirname realpath readlink pwd cd pushd mkdir ' +
    'rmdir rm cp mv ln touch chmod chown chgrp truncate shred unlink kill pkill pgrep killall pidof ps top sleep date ' +
    'seq expr test [ true false : id whoami groups uname hostname base64 md5sum sha1sum sha256sum sha512sum cmp od ' +
    'xxd hexdump strings gzip gunzip zcat bzip2 xz zstd unzip return exit shift break continue'
  ).split(' '),
)

/** The commands of a word that is a script, of the value of a flag `--name=value`, or in the strings of code. */
function commandsIn(word: Word): readonly (readonly Word[])[] {
  const text = literalValue(word) ?? ''
  const value = text.startsWith('-') ? text.replace(/^[^=]*=?/, '') : text
  if (value === '' || (value === text && !/\s/.test(text))) return []
  const strings = value.split(/["'`|!{}()=%]+/, maxGuesses).filter((part) => /\S\s+\S/.test(part))
  return [value, ...strings].flatMap((script) => parseShell(script).commands.map(({ words }) => words))
}

/** A program in no table may still run its arguments. */
function nestedInUnknown(program: string, { words }: SimpleCommand): NestedCommands {
  if (runsNothing.has(program)) return noNestedCommands
  return {
    ...noNestedCommands,
    suspicions: [...guessesOf(words), ...words.slice(1, maxGuesses).flatMap(commandsIn)],
  }
}
