import { createHash } from 'node:crypto'
import type { ContentBlock } from '@vitrine/protocol'

/**
 * Tells whether two prompts with one turn id are the same. The recorded prompt cannot: it may be masked or cut. A reader
 * of the record must not be able to check a guess of the prompt, so the hash needs the host's key.
 */
export class PromptHash {
  /** The form in which it is recorded: the id of the key, a colon, the hash. */
  readonly recorded: string
  readonly #text: string

  constructor(turn: string, blocks: readonly ContentBlock[], keyedHash: (text: string) => string) {
    // The turn id is a salt: equal prompts of different turns do not show.
    this.#text = JSON.stringify([turn, blocks])
    this.recorded = keyedHash(this.#text)
  }

  /** Whether a recorded hash is that of this prompt. Also true if it cannot be compared: its key is lost, or there is none. */
  matches(recorded: string | undefined): boolean {
    if (recorded === undefined) return true
    if (!recorded.includes(':')) return recorded === hashWithoutKey(this.#text)
    return keyIdOf(recorded) !== keyIdOf(this.recorded) || recorded === this.recorded
  }
}

function keyIdOf(recorded: string): string {
  return recorded.slice(0, recorded.indexOf(':'))
}

/** The form of earlier versions. */
function hashWithoutKey(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}
