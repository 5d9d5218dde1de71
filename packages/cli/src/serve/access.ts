import { VitrineError } from '@vitrine/protocol'
import { namePattern } from '@vitrine/protocol/primitives'
import type { NamedToken } from '@vitrine/server'

export interface AccessFlags {
  /** `false` (`--no-token`): requests need no token. */
  readonly token?: readonly string[] | false
  readonly readToken?: readonly string[]
}

/** The tokens that a daemon accepts. */
export interface Access {
  readonly tokens: readonly NamedToken[]
  readonly allowAnonymous: boolean
  /** The token for the user who started the daemon. */
  readonly token?: string
}

/** Tokens come from the flags, else from the environment, else from the data directory's token file. */
export function accessOf(
  { token: given, readToken = [] }: AccessFlags,
  fromEnvironment: string | undefined,
  storedToken: () => string,
): Access {
  const readers = readToken.map((text) => parseToken(text, 'onlooker', 'read'))
  if (given === false) return { tokens: readers, allowAnonymous: true }
  const texts = given ?? [fromEnvironment || storedToken()]
  const owners = texts.map((text) => parseToken(text, 'owner', 'full'))
  const [first] = owners
  return { tokens: [...owners, ...readers], allowAnonymous: false, ...(first && { token: first.token }) }
}

/** Parses `name=token` or a token alone; trailing `=` are base64 padding and do not separate a name. */
export function parseToken(text: string, defaultName: string, access: 'full' | 'read'): NamedToken {
  const separator = text.indexOf('=')
  const token = text.slice(separator + 1)
  if (separator === -1 || /^=?$/.test(token)) return { name: defaultName, token: text, access }
  const name = text.slice(0, separator)
  if (namePattern.test(name)) return { name, token, access }
  // The message repeats nothing of the text, which may be the token.
  throw new VitrineError(
    'argument_invalid',
    'Invalid token flag: expected a token, or name=token with a name of at most 64 letters, digits, "_", "." and "-".',
  )
}
