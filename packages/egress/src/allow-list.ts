import { VitrineError } from '@vitrine/protocol'
import { readTarget, showTarget, type Target } from './target.ts'

/** The targets that a sandbox may connect to: exact hosts with exact ports. */
export interface AllowList {
  has(target: Target): boolean
}

/**
 * Parses the entries of an allow-list. One invalid entry rejects the whole list, so that no policy applies partially.
 *
 * @example
 * readAllowList(['registry.example:443', 'localhost:11434', '[::1]:3000'])
 */
export function readAllowList(entries: readonly string[], name = 'allow'): AllowList {
  if (!Array.isArray(entries))
    throw new VitrineError(
      'argument_invalid',
      `${name}: expected an array of "host:port", got ${typeof entries}.`,
    )
  const listed = new Set(entries.map((entry, index) => readEntry(entry, `${name}[${index}]`)))
  return { has: (target) => listed.has(showTarget(target)) }
}

function readEntry(entry: unknown, name: string): string {
  const read = typeof entry === 'string' ? readTarget(entry) : { reason: 'it is not a string' }
  if ('host' in read) return showTarget(read)
  throw new VitrineError(
    'argument_invalid',
    `${name}: expected exactly one host and one port such as "registry.example:443", ` +
      `got ${JSON.stringify(entry)}: ${read.reason}. Add a separate entry for each host and port.`,
    { details: { argument: name } },
  )
}
