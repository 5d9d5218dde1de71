import type { Redirection } from './shell/script.ts'
import { knownText, type Word } from './shell/word.ts'

const streams = new Set(['/dev/null', '/dev/stdout', '/dev/stderr'])

/** The files that redirections write to. */
export function writtenFiles(redirections: readonly Redirection[]): readonly Word[] {
  return redirections.filter(writes).map(({ target }) => target)
}

function writes({ operator, target }: Redirection): boolean {
  if (operator === '<>') return true
  if (!operator.includes('>')) return false
  const text = knownText(target)
  if (text === undefined) return true
  if (operator === '>&' && /^([0-9]+-?|-)$/.test(text)) return false
  return !streams.has(text)
}

/** Reading a file is no more than the program itself could do; bash opens connections by such names. */
export function readsElsewhere({ operator, target }: Redirection): boolean {
  if (operator !== '<' && operator !== '<&') return false
  const text = knownText(target)
  return text === undefined || /\/dev\/(tcp|udp)\//.test(text)
}
