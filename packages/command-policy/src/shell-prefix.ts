import { dialectOf, isShell } from './nested/shells.ts'
import { baseName, isInstalled } from './rules/pattern.ts'
import type { Dialect } from './shell/parser-state.ts'

/** Whether and how the text of a command can be parsed. */
export type TextReader =
  | { readonly kind: 'certain'; readonly dialect: Dialect }
  | { readonly kind: 'uncertain'; readonly dialect: Dialect; readonly reason: string }
  | { readonly kind: 'unreadable'; readonly reason: string }

/** Determines the dialect of a command string by its shell. A shell's name alone means the shell with `-c`. */
export function textReader(shell: string | readonly string[] = 'sh'): TextReader {
  const prefix = typeof shell === 'string' ? [shell, '-c'] : shell
  const [program = '', ...flags] = prefix
  const name = baseName(program)
  if (!isShell(name)) {
    return {
      kind: 'unreadable',
      reason: `a command string for ${JSON.stringify(prefix.join(' '))} cannot be parsed`,
    }
  }
  const dialect = dialectOf(name)
  if (dialect === undefined)
    return { kind: 'uncertain', dialect: 'posix', reason: `${name} has its own syntax` }
  if (!isInstalled(program))
    return { kind: 'uncertain', dialect, reason: `${program} may not be the shell it is named after` }
  if (flags.at(-1)?.match(/^-[a-z]*c$/) && flags.every(isHarmless)) return { kind: 'certain', dialect }
  return {
    kind: 'uncertain',
    dialect,
    reason: `the flags of ${name} may change how a command string is read`,
  }
}

function isHarmless(flag: string, index: number, flags: readonly string[]): boolean {
  if (flags[index - 1]?.match(/^-[efux]*o$/)) return ['pipefail', 'errexit', 'nounset'].includes(flag)
  const last = index === flags.length - 1
  if (last) return /^-[eflux]*c$/.test(flag)
  return /^-[eflux]*o?$/.test(flag) || ['--login', '--noprofile', '--norc', '--posix'].includes(flag)
}
