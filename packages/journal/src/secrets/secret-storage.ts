/** A value to mask, as it is kept across restarts. */
export interface KeptSecret {
  readonly id: string
  readonly name: string
  readonly value: string
  /** The ids of the sandboxes that registered it; `''` stands for the host itself. Never empty. */
  readonly owners: readonly string[]
}

/** The values that an earlier owner of the store registered. */
export interface LoadedSecrets {
  readonly secrets: readonly KeptSecret[]
  /** Notices about values that are not masked any more, for the host's journal. */
  readonly notices: readonly SecretNotice[]
}

export type SecretNotice =
  | {
      readonly type: 'limit.reached'
      readonly data: { readonly limit: string; readonly max: number; readonly forgotten: number }
    }
  | { readonly type: 'log.message'; readonly data: { readonly level: 'warn'; readonly message: string } }

/** Keeps the values to mask across restarts. Every change is on disk when its call returns. */
export interface SecretStorage {
  /** Called once the store is owned, before anything is recorded. Throws if a value cannot be read. */
  load(): LoadedSecrets
  /** Adds a value with its first owner. */
  keep(secret: KeptSecret): void
  addOwner(id: string, owner: string): void
  /** Removes an owner; a value without owners is forgotten. */
  removeOwner(id: string, owner: string): void
  /** A key of 32 bytes for this purpose, the same after every restart and for no other purpose. */
  deriveKey(purpose: string): Uint8Array
}
