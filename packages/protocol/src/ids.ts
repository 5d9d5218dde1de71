import { VitrineError } from './errors/vitrine-error.ts'
import { shown } from './shown.ts'

/** The prefix shows the kind of an id. */
export const idPrefixes = {
  sandbox: 'sbx',
  session: 'ses',
  turn: 'turn',
  run: 'run',
  loop: 'loop',
  operation: 'op',
  process: 'proc',
  agent: 'agt',
  permission: 'perm',
  question: 'qst',
  snapshot: 'snap',
  store: 'st',
} as const

export type IdKind = keyof typeof idPrefixes

// Without i, l, o and u, which are easily confused.
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const randomLength = 26

// `getRandomValues` costs about the same for few bytes as for many, so they are drawn in bulk.
const pool = new Uint8Array(4_096)
let used = pool.length

/** Random bytes from the pool; each byte is used once. */
function randomBytes(count: number): Uint8Array {
  if (used + count > pool.length) {
    crypto.getRandomValues(pool)
    used = 0
  }
  used += count
  return pool.subarray(used - count, used)
}

/** Random bytes in hexadecimal, the form of trace and span ids. */
export function randomHex(bytes: number): string {
  let text = ''
  for (const byte of randomBytes(bytes)) text += byte.toString(16).padStart(2, '0')
  return text
}

/**
 * A new id with 130 random bits.
 *
 * @example
 * newId('sandbox') // 'sbx_7h2k…'
 */
export function newId(kind: IdKind): string {
  let text = `${idPrefixes[kind]}_`
  for (const byte of randomBytes(randomLength)) text += alphabet[byte & 31]
  return text
}

/** Whether a string has the form of an id of that kind; does not check that the object exists. */
export function isId(kind: IdKind, text: string): boolean {
  const prefix = `${idPrefixes[kind]}_`
  return (
    text.length === prefix.length + randomLength &&
    text.startsWith(prefix) &&
    [...text.slice(prefix.length)].every((letter) => alphabet.includes(letter))
  )
}

/** The form of an id that a caller may choose, such as that of a journal or a turn. */
export const idPattern = /^[A-Za-z0-9_.-]{1,128}$/

/** The id of a session may contain ":" too. */
export const sessionIdPattern = /^[A-Za-z0-9_.:-]{1,128}$/

/** The form of a name that a person types, such as that of an agent or a token. */
export const namePattern = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/

/** The journal of the host itself. */
const hostJournal = 'host'

/**
 * Rejects an id that cannot be the id of a sandbox. Files and folders are named after it, so it must not lead elsewhere;
 * its journal is named after it too, so it must not be the journal of the host or of a loop.
 */
export function checkSandboxId(id: string): void {
  if (!idPattern.test(id) || id === '.' || id === '..')
    throw new VitrineError(
      'argument_invalid',
      `id: expected letters, digits, "_", "." and "-", at most 128 and neither "." nor "..", got ${shown(id)}.`,
    )
  if (id === hostJournal || id.startsWith(`${idPrefixes.loop}_`))
    throw new VitrineError(
      'argument_invalid',
      `id: ${JSON.stringify(id)} is reserved for another journal; choose an id that is not "${hostJournal}" and does not begin with "${idPrefixes.loop}_".`,
    )
}
