import type { Redirection } from './shell/script.ts'
import { literalValue, type Word } from './shell/word.ts'

const streams = new Set(['/dev/null', '/dev/stdout', '/dev/stderr'])

/** The files that redirections write to. */
export function writtenFiles(redirections: readonly Redirection[]): readonly Word[] {
  return redirections.filter(writes).map(({ target }) => target)
}

function writes({ operator, target }: Redirection): boolean {
  if (operator === '<>') return true
  if (!operator.includes('>')) return false
  const text = literalValue(target)
  if (text === undefined) return true
  if (operator === '>&' && /^([0-9]+-?|-)$/.test(text)) return false
  return !streams.has(text)
}

/**
 * Whether a redirection reads from an unknown file or a network connection (`/dev/tcp`). Reading a known file is
 * harmless, since the program could read it itself.
 */
export function readsUnknownInput({ operator, target }: Redirection): boolean {
  if (operator !== '<' && operator !== '<&') return false
  const text = literalValue(target)
  return text === undefined || /\/dev\/(tcp|udp)\//.test(text)
}
