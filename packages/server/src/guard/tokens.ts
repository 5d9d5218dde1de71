import { timingSafeEqual } from 'node:crypto'
import { VitrineError } from '@vitrine/protocol'
import type { Caller } from './caller.ts'

export interface NamedToken extends Caller {
  readonly token: string
}

/** Authenticates callers by token. Every known token is compared in constant time. */
export class Tokens {
  readonly #known: readonly {
    readonly lowerCase: string
    readonly paddedToken: Buffer
    readonly caller: Caller
  }[]
  /** The caller for requests without a token, if anonymous access is allowed. */
  readonly #anonymous: Caller | undefined
  /** Reused, because a new buffer for each request takes more time than the comparison. */
  readonly #candidate = Buffer.alloc(maxTokenBytes)

  constructor(tokens: readonly NamedToken[], anonymous?: Caller) {
    for (const { token, name } of tokens) checkToken(token, name)
    this.#known = tokens.map(({ token, name, access }) => ({
      lowerCase: token.toLowerCase(),
      paddedToken: pad(token, Buffer.alloc(maxTokenBytes)),
      caller: { name, access },
    }))
    this.#anonymous = anonymous
  }

  get allowsAnonymous(): boolean {
    return this.#anonymous !== undefined
  }

  /** Whether a text contains a known token, anywhere and in any case: names of headers have none. */
  isContainedIn(text: string): boolean {
    const lower = text.toLowerCase()
    return this.#known.some(({ lowerCase }) => lower.includes(lowerCase))
  }

  /** Returns the caller of a token, or throws an error that does not contain the token. */
  caller(token: string | undefined): Caller {
    const found = token === undefined ? undefined : this.#find(token)
    const caller = found ?? (token === undefined ? this.#anonymous : undefined)
    if (caller !== undefined) return caller
    const message =
      token === undefined ? 'The request has no token.' : 'The token is not known to this daemon.'
    throw new VitrineError('token_invalid', message)
  }

  #find(token: string): Caller | undefined {
    // Reject over-long input before padding: truncation could turn it into a valid token.
    if (!/^[\x21-\x7e]{1,512}$/.test(token)) return undefined
    const candidate = pad(token, this.#candidate)
    let caller: Caller | undefined
    for (const known of this.#known) if (timingSafeEqual(known.paddedToken, candidate)) caller = known.caller
    return caller
  }
}

const maxTokenBytes = 512

/** Prefix of a WebSocket subprotocol that carries a token. */
export const tokenPrefix = 'vitrine.token.'

/** Pads a token to a fixed length for the constant-time comparison. No token contains a zero byte. */
function pad(token: string, bytes: Buffer): Buffer {
  return bytes.fill(0, bytes.write(token, 'latin1'))
}

function checkToken(token: string, name: string): void {
  if (/^[\x21-\x7e]{8,512}$/.test(token)) return
  throw new VitrineError(
    'argument_invalid',
    `The token named ${JSON.stringify(name)}: expected 8 to 512 visible ASCII characters without spaces.`,
  )
}

/** The token in an `Authorization` header. */
export function bearerToken(header: string | null | undefined): string | undefined {
  return /^Bearer ([\x21-\x7e]{1,512})$/i.exec(header ?? '')?.[1]
}
