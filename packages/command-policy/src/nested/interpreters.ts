import { isFlag, longName } from '../rules/flags.ts'
import type { SimpleCommand } from '../shell/script.ts'
import { literalValue, type Word } from '../shell/word.ts'
import { type NestedCommands, noNestedCommands } from './nested-commands.ts'

interface Interpreter {
  readonly name: RegExp
  /** Flags that are followed by code, or by the name of a command. */
  readonly letters: string
  readonly longs: readonly string[]
  /** Words that are followed by code. */
  readonly words: readonly string[]
  /** Without a script it runs its stdin. */
  readonly readsInput: boolean
}

function interpreter(name: RegExp, letters: string, settings: Partial<Interpreter> = {}): Interpreter {
  return { name, letters, longs: [], words: [], readsInput: true, ...settings }
}

const interpreters: readonly Interpreter[] = [
  interpreter(/^(python|pypy)[0-9.]*$/, 'c'),
  interpreter(/^(node|nodejs)$/, 'epr', {
    longs: ['--eval', '--print', '--require', '--import', '--loader'],
  }),
  interpreter(/^(bun|deno)$/, 'e', {
    longs: ['--eval', '--print', '--preload'],
    words: ['eval', 'repl'],
    readsInput: false,
  }),
  interpreter(/^perl[0-9.]*$/, 'eE'),
  interpreter(/^ruby[0-9.]*$/, 'er'),
  interpreter(/^php[0-9.]*$/, 'rBRE'),
  interpreter(/^(lua|luajit|tclsh|osascript|Rscript|R|julia|groovy|scala|ghci?)[0-9.]*$/i, 'eEls'),
  interpreter(/^(vi|vim|nvim|ex|ed|emacs)$/i, 'ceS', { longs: ['--cmd', '--eval', '--command'] }),
  interpreter(/^git$/, 'c', { longs: ['--exec-path', '--config-env'], readsInput: false }),
  interpreter(/^(tar|gtar|bsdtar)$/, 'IF', {
    longs: [
      '--checkpoint-action',
      '--to-command',
      '--use-compress-program',
      '--info-script',
      '--rsh-command',
    ],
    readsInput: false,
  }),
]

/** Programs that run other commands in program-specific ways. */
const launchers =
  /^(parallel|su|runuser|chroot|flock|watch|strace|ltrace|script|unshare|nsenter|pkexec|systemd-run|at|batch|setpriv|bwrap|firejail|taskset|chrt|start-stop-daemon)$/

export function isLauncher(program: string): boolean {
  return launchers.test(program)
}

/** Checks for code in an interpreter's arguments or stdin; undefined if the program is not an interpreter. */
export function nestedInInterpreter(program: string, { words }: SimpleCommand): NestedCommands | undefined {
  const known = interpreters.find(({ name }) => name.test(program))
  if (!known) return undefined
  let afterFlag = false
  for (const word of words.slice(1)) {
    const text = literalValue(word)
    if (text === undefined) continue
    if (isCode(known, text))
      return { ...noNestedCommands, uncertainties: [`it runs code or commands given by ${text}`] }
    // A script or subcommand ends the search, but a word after a flag may be the flag's value.
    if (!isFlag(text) && !afterFlag && text !== '-') return noNestedCommands
    afterFlag = isFlag(text)
  }
  if (words.length === 2 && words.every((word, index) => index === 0 || onlyPrintsInfo(program, word)))
    return noNestedCommands
  if (!known.readsInput || words.slice(1).some((word) => !isFlag(literalValue(word) ?? '-?')))
    return noNestedCommands
  return { ...noNestedCommands, uncertainties: ['it runs what it reads from its input'] }
}

function isCode({ letters, longs, words }: Interpreter, text: string): boolean {
  if (text === '-' || words.includes(text)) return true
  if (!isFlag(text)) return false
  if (text.startsWith('--')) return longs.some((long) => long.startsWith(longName(text)) && text !== '--')
  return [...text.slice(1)].some((letter) => letters.includes(letter))
}

function onlyPrintsInfo(program: string, word: Word): boolean {
  const text = literalValue(word) ?? ''
  // With -v, Python is verbose and then runs its stdin.
  return (
    text === '--version' || text === '--help' || text === '-V' || (text === '-v' && !program.startsWith('py'))
  )
}
