import { isFlag, longName } from '../rules/flags.ts'
import type { SimpleCommand } from '../shell/script.ts'
import { literal, literalValue, type Word } from '../shell/word.ts'
import { guessesOf, type NestedCommands, noNestedCommands } from './nested-commands.ts'

interface Interpreter {
  /** Flags that are followed by code, or by the name of a command. */
  readonly letters: string
  readonly longs: readonly string[]
  /** Flags with which it runs a file or module that follows. */
  readonly modules: string
  /** Without a script it runs its stdin. */
  readonly readsInput: boolean
}

function interpreter(
  names: string,
  letters: string,
  settings: Partial<Interpreter> = {},
): readonly (readonly [string, Interpreter])[] {
  const known = { letters, longs: [], modules: '', readsInput: true, ...settings }
  return names.split(' ').map((name) => [name, known] as const)
}

/** By name without its version. */
const interpreters: ReadonlyMap<string, Interpreter> = new Map([
  ...interpreter('python pypy ipython bpython ptpython', 'c', { modules: 'm' }),
  ...interpreter('node nodejs', 'epr', {
    longs: ['--eval', '--print', '--require', '--import', '--loader', '--experimental-loader'],
  }),
  ...interpreter('perl', 'eEMmd'),
  ...interpreter('ruby jruby irb pry', 'er'),
  ...interpreter('php', 'rBRE', { longs: ['--run', '--process-begin', '--process-code'] }),
  ...interpreter('lua luajit tclsh wish osascript rscript r julia groovy scala ghc ghci', 'eEls'),
  ...interpreter(
    'guile racket sbcl clisp ecl clojure clj bb elixir iex erl escript ocaml swift octave',
    'ceErfslp',
    {
      longs: ['--eval', '--load', '--expr', '-eval', '-run', '--rpc-eval'],
    },
  ),
  ...interpreter('gnuplot m4 dc maxima gp sage swipl gforth janet fennel hy crystal nim tcc', 'ecgstx', {
    longs: ['--expression', '--eval', '--run', '-run'],
  }),
  ...interpreter(
    'jshell jrunscript jjs raku perl6 gjs qjs d8 texlua texluajit runghc runhaskell amm',
    'ecr',
    {
      longs: ['--eval', '--startup', '--code'],
    },
  ),
  ...interpreter('wolframscript scilab gap sml kotlinc mono wine wine64', 'ecfrs', {
    longs: ['-code', '-file', '-script'],
  }),
  ...interpreter('lean idris idris2 coqtop agda isabelle poly mosml', 'elrx', {
    longs: ['--run', '--exec', '--load', '--eval', '--use', '-load-vernac-source'],
  }),
  ...interpreter(
    'pike newlisp picolisp pil csi gosh chibi-scheme mit-scheme chezscheme gsi abcl gcl cmucl kawa bsh jython rhino mujs',
    'ceErls',
    { longs: ['--eval', '--load', '--script', '-eval', '--expression'] },
  ),
  ...interpreter(
    'gprolog yap xsb ciao a68g rexx regina jimsh gst yorick cling hhvm fsharpi fsi booi instantfpc rdmd vala',
    'eclgrx',
    {
      longs: ['--eval', '--execute', '--entry-goal', '--query-goal', '--init-goal', '--run'],
    },
  ),
  ...interpreter('pwsh powershell xonsh nu elvish cmd.exe', 'cCeE', {
    longs: ['--command', '-command', '-encodedcommand', '--commands'],
  }),
])

/** Modules of python that run neither code of the project nor a command that they are given. */
const harmlessModules =
  /^(venv|http\.server|json\.tool|compileall|py_compile|black|isort|flake8|ruff|mypy|pylint|pytest|unittest|build|zipfile|tarfile|base64|calendar|this|ensurepip|site|sysconfig|tokenize|ast|dis|gzip)$/

/** Checks for code in an interpreter's arguments or stdin; undefined if the program is not an interpreter. */
export function nestedInInterpreter(program: string, { words }: SimpleCommand): NestedCommands | undefined {
  const known = interpreters.get(program)
  if (!known) return undefined
  let afterFlag = false
  for (const [index, word] of words.entries()) {
    const text = literalValue(word)
    if (index === 0 || text === undefined) continue
    if (isCode(known, text))
      return { ...noNestedCommands, uncertainties: [`it runs code or commands given by ${text}`] }
    if (known.modules !== '' && /^-[A-Za-z]*m/.test(text)) return module(text, words.slice(index + 1))
    // A script or subcommand ends the search, but a word after a flag may be the flag's value.
    if (!isFlag(text) && !afterFlag && text !== '-') return runsFile
    afterFlag = isFlag(text)
  }
  if (words.length === 2 && words.every((word, index) => index === 0 || onlyPrintsInfo(program, word)))
    return noNestedCommands
  if (!known.readsInput || words.slice(1).some((word) => !isFlag(literalValue(word) ?? '-?'))) return runsFile
  return { ...noNestedCommands, uncertainties: ['it runs what it reads from its input'] }
}

const runsFile: NestedCommands = { ...noNestedCommands, unread: ['it runs a file whose content is not read'] }

function module(flag: string, rest: readonly Word[]): NestedCommands {
  const attached = flag.slice(flag.indexOf('m') + 1)
  const words = attached === '' ? rest : [literal(attached), ...rest]
  const name = words[0] ? literalValue(words[0]) : undefined
  if (name !== undefined && harmlessModules.test(name)) return noNestedCommands
  const unread = ['it runs a module whose content is not read']
  if (name !== 'pip') return { ...noNestedCommands, unread, guesses: guessesOf([literal('-m'), ...words]) }
  return {
    ...noNestedCommands,
    commands: [{ words, assignments: [], redirections: [], certain: true }],
  }
}

function isCode({ letters, longs }: Interpreter, text: string): boolean {
  if (text === '-' || /^\/dev\/(stdin|fd\/)/.test(text)) return true
  if (!isFlag(text)) return false
  if (longs.some((long) => long.startsWith(longName(text)) && longName(text).length > 3)) return true
  return !text.startsWith('--') && [...text.slice(1)].some((letter) => letters.includes(letter))
}

function onlyPrintsInfo(program: string, word: Word): boolean {
  const text = literalValue(word) ?? ''
  // With -v, Python is verbose and then runs its stdin.
  return (
    text === '--version' || text === '--help' || text === '-V' || (text === '-v' && !program.startsWith('py'))
  )
}
