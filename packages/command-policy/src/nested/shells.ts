import type { Dialect } from '../shell/parser-state.ts'
import type { SimpleCommand } from '../shell/script.ts'
import { displayText, literalValue, type Word } from '../shell/word.ts'
import { type NestedCommands, noNestedCommands } from './nested-commands.ts'

/** Shells whose language the parser handles with certainty. */
const dialects = new Map<string, Dialect>([
  ['sh', 'posix'],
  ['dash', 'posix'],
  ['ash', 'posix'],
  ['bash', 'bash'],
])

/** Shells similar enough that a denied nested command is recognised. */
const similarShells = new Set(
  'zsh ksh mksh lksh rksh posh yash rbash rzsh fish csh tcsh osh bash-static zsh-static mksh-static'.split(
    ' ',
  ),
)

export function dialectOf(program: string): Dialect | undefined {
  return dialects.get(program)
}

export function isShell(program: string): boolean {
  return dialects.has(program) || similarShells.has(program)
}

/** A nested shell is always uncertain, but its script is judged as well. */
export function nestedInShell(program: string, { words, redirections }: SimpleCommand): NestedCommands {
  const dialect = dialects.get(program) ?? 'posix'
  const { code, file } = passShellFlags(words)
  if (code) {
    const uncertainties = ['it runs a string in another shell']
    return {
      ...noNestedCommands,
      uncertainties,
      scripts: [{ text: literalValue(code) ?? displayText(code), dialect }],
    }
  }
  if (file) return { ...noNestedCommands, uncertainties: ['it runs a script whose content is not known'] }
  const scripts = redirections.flatMap(({ operator, target, body }) => {
    const text = operator === '<<<' ? displayText(target) : body
    return text === undefined ? [] : [{ text, dialect }]
  })
  return { ...noNestedCommands, uncertainties: ['it runs what it reads from its input'], scripts }
}

function passShellFlags(words: readonly Word[]): { readonly code?: Word; readonly file?: Word } {
  let takesCode = false
  for (let at = 1; at < words.length; at += 1) {
    const word = words[at]
    if (!word) break
    const text = literalValue(word) ?? displayText(word)
    if (text === '--' || text === '-') {
      const next = words[at + 1]
      return next ? (takesCode ? { code: next } : { file: next }) : {}
    }
    if (!/^[-+]./.test(text)) return takesCode ? { code: word } : { file: word }
    if (/^-[^-]*c/.test(text) || text === '--command') takesCode = true
    if (/^[-+][^-]*[oO]$/.test(text) || text === '--rcfile' || text === '--init-file') at += 1
  }
  return {}
}
