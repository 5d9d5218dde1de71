import type { Store } from '@vitrine/journal'

/** Shorter values occur in any text; longer ones are whole files. */
const shortest = 4
const longest = 64 * 1024

/** The store in which a value is redacted, and the sandbox that it is for. */
export interface SecretOwner {
  readonly store: Store
  readonly sandbox: { readonly id: string }
}

/** Redacts a value in all journals of the store from now on, until its sandbox is destroyed. */
export function addSecret({ store, sandbox }: SecretOwner, name: string, value: string): void {
  if (value.length < shortest || Buffer.byteLength(value) > longest) return
  store.addSecret(name, value, { sandbox: sandbox.id })
}
