import type { Dialect } from '../shell/reading.ts'
import type { SimpleCommand } from '../shell/script.ts'
import { knownText, shownText, type Word } from '../shell/word.ts'
import { type Inside, nothingInside } from './inside.ts'

/** Shells whose language this package reads with certainty. */
const read = new Map<string, Dialect>([
  ['sh', 'posix'],
  ['dash', 'posix'],
  ['ash', 'posix'],
  ['bash', 'bash'],
])

/** Alike enough that a denied command within is recognised. */
const alike = new Set(['zsh', 'ksh', 'mksh', 'yash', 'rbash', 'fish', 'csh', 'tcsh', 'osh'])

export function dialectOf(program: string): Dialect | undefined {
  return read.get(program)
}

export function isShell(program: string): boolean {
  return read.has(program) || alike.has(program)
}

/** A shell within a command is never certain; what it is told to run is still judged. */
export function insideShell(program: string, { words, redirections }: SimpleCommand): Inside {
  const dialect = read.get(program) ?? 'posix'
  const { code, file } = passShellFlags(words)
  if (code) {
    const doubts = ['it runs a text in another shell']
    return { ...nothingInside, doubts, scripts: [{ text: knownText(code) ?? shownText(code), dialect }] }
  }
  if (file) return { ...nothingInside, doubts: ['it runs a script whose content is not known'] }
  const scripts = redirections.flatMap(({ operator, target, body }) => {
    const text = operator === '<<<' ? shownText(target) : body
    return text === undefined ? [] : [{ text, dialect }]
  })
  return { ...nothingInside, doubts: ['it runs what it reads from its input'], scripts }
}

function passShellFlags(words: readonly Word[]): { readonly code?: Word; readonly file?: Word } {
  let takesCode = false
  for (let at = 1; at < words.length; at += 1) {
    const word = words[at]
    if (!word) break
    const text = knownText(word) ?? shownText(word)
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
