import { VitrineError } from '@vitrine/protocol'
import { readTarget, showTarget, type Target } from './target.ts'

/** What a sandbox may reach: exact hosts with exact ports. */
export interface AllowList {
  has(target: Target): boolean
}

/**
 * Reads the entries of an allow-list. One bad entry and there is no list: half a policy is none.
 *
 * @example
 * readAllowList(['registry.example:443', 'localhost:11434', '[::1]:3000'])
 */
export function readAllowList(entries: readonly string[], name = 'allow'): AllowList {
  if (!Array.isArray(entries))
    throw new VitrineError(
      'argument_invalid',
      `${name}: expected a list of "host:port", got ${typeof entries}.`,
    )
  const listed = new Set(entries.map((entry, index) => readEntry(entry, `${name}[${index}]`)))
  return { has: (target) => listed.has(showTarget(target)) }
}

function readEntry(entry: unknown, name: string): string {
  const read = typeof entry === 'string' ? readTarget(entry) : { reason: 'it is not a text' }
  if ('host' in read) return showTarget(read)
  throw new VitrineError(
    'argument_invalid',
    `${name}: expected exactly one host and one port such as "registry.example:443", ` +
      `got ${JSON.stringify(entry)}: ${read.reason}. List each host and port as an entry of its own.`,
    { details: { argument: name } },
  )
}
