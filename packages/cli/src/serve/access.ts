import { VitrineError } from '@vitrine/protocol'
import type { NamedToken } from '@vitrine/server'

export interface AccessFlags {
  /** `false`: nobody needs one. */
  readonly token?: readonly string[] | false
  readonly readToken?: readonly string[]
}

/** Who may call a daemon. */
export interface Access {
  readonly tokens: readonly NamedToken[]
  readonly allowAnonymous: boolean
  /** What whoever started it calls with. */
  readonly token?: string
}

/** What was said comes first, then the environment; without either it is the token that is kept. */
export function accessOf(
  { token: given, readToken = [] }: AccessFlags,
  said: string | undefined,
  kept: () => string,
): Access {
  const readers = readToken.map((text) => parseToken(text, 'onlooker', 'read'))
  if (given === false) return { tokens: readers, allowAnonymous: true }
  const texts = given ?? [said || kept()]
  const owners = texts.map((text) => parseToken(text, 'owner', 'full'))
  const [first] = owners
  return { tokens: [...owners, ...readers], allowAnonymous: false, ...(first && { token: first.token }) }
}

/** `name=token`, or a token; the `=` that base64 ends with names nobody. */
export function parseToken(text: string, otherwise: string, access: 'full' | 'read'): NamedToken {
  const at = text.indexOf('=')
  const token = text.slice(at + 1)
  if (at === -1 || /^=?$/.test(token)) return { name: otherwise, token: text, access }
  const name = text.slice(0, at)
  if (/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(name)) return { name, token, access }
  // Not a word of it is repeated: it may be the token.
  throw new VitrineError(
    'argument_invalid',
    'A token: expected name=token with a name of letters, digits, "_", "." and "-", 64 at most, or a token alone.',
  )
}
