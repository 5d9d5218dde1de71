import { createHmac } from 'node:crypto'

/**
 * Hashes texts with a key, so that a reader without the key cannot check a guess. A hash begins with the id of its key:
 * hashes of different keys cannot be compared.
 */
export class KeyedHash {
  readonly #key: Uint8Array
  readonly #keyId: string

  constructor(key: Uint8Array) {
    this.#key = key
    this.#keyId = createHmac('sha256', key).update('id').digest('hex').slice(0, 8)
  }

  of(text: string): string {
    return `${this.#keyId}:${createHmac('sha256', this.#key).update(`text ${text}`).digest('hex').slice(0, 32)}`
  }
}
