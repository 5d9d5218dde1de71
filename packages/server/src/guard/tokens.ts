import { timingSafeEqual } from 'node:crypto'
import { VitrineError } from '@vitrine/protocol'
import type { Caller } from './caller.ts'

export interface NamedToken extends Caller {
  readonly token: string
}

/** Finds out who calls. Every known token is compared, in a time that tells nothing about it. */
export class Tokens {
  readonly #known: readonly { readonly paddedToken: Buffer; readonly caller: Caller }[]
  /** Who a caller without a token is, where that was asked for. */
  readonly #anonymous: Caller | undefined

  constructor(tokens: readonly NamedToken[], anonymous?: Caller) {
    for (const { token, name } of tokens) checkToken(token, name)
    this.#known = tokens.map(({ token, name, access }) => ({
      paddedToken: padded(token),
      caller: { name, access },
    }))
    this.#anonymous = anonymous
  }

  /** Whether a caller without a token is somebody. */
  get allowsAnonymous(): boolean {
    return this.#anonymous !== undefined
  }

  knows(token: string | undefined): boolean {
    return token !== undefined && this.#find(token) !== undefined
  }

  /** The caller behind a token, or an error that does not repeat it. */
  caller(token: string | undefined): Caller {
    const found = token === undefined ? undefined : this.#find(token)
    const caller = found ?? (token === undefined ? this.#anonymous : undefined)
    if (caller !== undefined) return caller
    const what = token === undefined ? 'A token is needed.' : 'The token is not one of this daemon.'
    throw new VitrineError('token_invalid', what)
  }

  #find(token: string): Caller | undefined {
    // Reject over-long input before padding: truncation could turn it into a valid token.
    if (!/^[\x21-\x7e]{1,512}$/.test(token)) return undefined
    const candidate = padded(token)
    let caller: Caller | undefined
    for (const known of this.#known) if (timingSafeEqual(known.paddedToken, candidate)) caller = known.caller
    return caller
  }
}

const maxTokenBytes = 512

/** Of a subprotocol of a WebSocket that is a token. */
export const tokenPrefix = 'vitrine.token.'

/** Of one length, whatever the token's is, so that a comparison takes the same time. No token has a zero in it. */
function padded(token: string): Buffer {
  const bytes = Buffer.alloc(maxTokenBytes)
  bytes.write(token, 'latin1')
  return bytes
}

function checkToken(token: string, name: string): void {
  if (/^[\x21-\x7e]{8,512}$/.test(token)) return
  throw new VitrineError(
    'argument_invalid',
    `The token ${name}: expected 8 to 512 visible ASCII characters without spaces.`,
  )
}

/** The token of an `Authorization` header. */
export function bearerToken(header: string | null | undefined): string | undefined {
  return /^Bearer ([\x21-\x7e]{1,512})$/i.exec(header ?? '')?.[1]
}
