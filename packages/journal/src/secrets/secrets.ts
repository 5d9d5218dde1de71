import { randomBytes } from 'node:crypto'
import { isVitrineError, randomHex, VitrineError } from '@vitrine/protocol'
import type { Redactor } from '../redact/redactor.ts'
import { KeyedHash } from './keyed-hash.ts'
import { keyBytes } from './seal.ts'
import type { KeptSecret, SecretStorage } from './secret-storage.ts'

/** The owner of a value that belongs to no sandbox. */
const hostOwner = ''

interface Registered {
  readonly id: string
  /** Number of registrations, by owner. Those of an earlier process count as one, which only the end of its owner removes. */
  readonly owners: Map<string, number>
  unmask(): void
}

/** The registered secrets of a store: masked by the redactor, and kept for the next owner of the store. */
export class Secrets {
  readonly #redactor: Redactor
  readonly #storage: SecretStorage | undefined
  readonly #registered = new Map<string, Registered>()
  #keyedHash: KeyedHash | undefined

  constructor(redactor: Redactor, storage?: SecretStorage, kept: readonly KeptSecret[] = []) {
    this.#redactor = redactor
    this.#storage = storage
    for (const { id, name, value, owners } of kept) {
      const unmask = redactor.add(name, value)
      this.#registered.set(keyOf(name, value), { id, unmask, owners: new Map(owners.map((one) => [one, 1])) })
    }
  }

  /** Whether the values outlive this process. */
  get kept(): boolean {
    return this.#storage !== undefined
  }

  /** A hash that cannot be computed without the key. If nothing is kept, the key lasts as long as this process. */
  hash(text: string): string {
    this.#keyedHash ??= new KeyedHash(this.#storage?.deriveKey('vitrine hashes') ?? randomBytes(keyBytes))
    return this.#keyedHash.of(text)
  }

  /** Masks a value from now on. Returns a function that unregisters it. */
  add(name: string, value: string, owner: string = hostOwner): () => void {
    const key = keyOf(name, value)
    const known = this.#registered.get(key) ?? this.#register(key, name, value, owner)
    if (!known.owners.has(owner)) this.#storage?.addOwner(known.id, owner)
    known.owners.set(owner, (known.owners.get(owner) ?? 0) + 1)
    let isRegistered = true
    return () => {
      if (!isRegistered) return
      isRegistered = false
      const count = known.owners.get(owner) ?? 0
      if (count > 1) known.owners.set(owner, count - 1)
      else this.#removeOwner(key, known, owner)
    }
  }

  /** Masks all of these values, or none if one cannot be. Returns a function that unregisters them. */
  addAll(values: Readonly<Record<string, string>>, owner?: string): () => void {
    const added: (() => void)[] = []
    const remove = () => {
      for (const one of added) one()
    }
    try {
      for (const [name, value] of Object.entries(values))
        added.push(withName(name, () => this.add(name, value, owner)))
    } catch (error) {
      remove()
      throw error
    }
    return remove
  }

  /** Forgets the values of a destroyed sandbox that nothing else registered. */
  forgetSandbox(sandbox: string): void {
    for (const [key, known] of this.#registered)
      if (known.owners.has(sandbox)) this.#removeOwner(key, known, sandbox)
  }

  #register(key: string, name: string, value: string, owner: string): Registered {
    const known: Registered = {
      id: randomHex(8),
      owners: new Map([[owner, 0]]),
      unmask: this.#redactor.add(name, value),
    }
    try {
      this.#storage?.keep({ id: known.id, name, value, owners: [owner] })
    } catch (error) {
      // A value that is not on record would not be masked after a restart, so its caller must not use it.
      known.unmask()
      throw error
    }
    this.#registered.set(key, known)
    return known
  }

  #removeOwner(key: string, known: Registered, owner: string): void {
    if (this.#registered.get(key) !== known || !known.owners.delete(owner)) return
    if (known.owners.size === 0) {
      this.#registered.delete(key)
      known.unmask()
    }
    this.#storage?.removeOwner(known.id, owner)
  }
}

/** Names the secret in an error about it. */
function withName<T>(name: string, register: () => T): T {
  try {
    return register()
  } catch (error) {
    if (!isVitrineError(error)) throw error
    const hint =
      error.code === 'secret_too_short'
        ? ' A shorter value cannot be masked; give it as `env` if it is not secret.'
        : ''
    throw new VitrineError(error.code, `secrets.${name}: ${error.message}${hint}`, { cause: error })
  }
}

function keyOf(name: string, value: string): string {
  return `${name}\0${value}`
}
