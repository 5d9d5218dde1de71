/** The prefix tells a person what an id belongs to. */
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

// Without i, l, o and u: an id survives being read aloud.
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const randomLength = 26

/**
 * A new id with 130 random bits.
 *
 * @example
 * newId('sandbox') // 'sbx_7h2k…'
 */
export function newId(kind: IdKind): string {
  let text = `${idPrefixes[kind]}_`
  for (const byte of crypto.getRandomValues(new Uint8Array(randomLength))) text += alphabet[byte & 31]
  return text
}

/** Whether a text has the form of an id of that kind; says nothing about whether the thing exists. */
export function isId(kind: IdKind, text: string): boolean {
  const prefix = `${idPrefixes[kind]}_`
  return (
    text.length === prefix.length + randomLength &&
    text.startsWith(prefix) &&
    [...text.slice(prefix.length)].every((letter) => alphabet.includes(letter))
  )
}
