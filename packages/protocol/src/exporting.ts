import type { JournalEvent } from './events/envelope.ts'
import type { JournalReader } from './reading.ts'

/** The newest `seq` of a journal and its hash. Stored elsewhere, it shows later whether the journal was changed. */
export interface RememberedHead {
  readonly seq: number
  readonly hash: string
}

/** The result of checking a journal's hash chain: its head, or the first `seq` that fails and why. */
export type Verification =
  | { readonly ok: true; readonly head: RememberedHead; readonly events: number; readonly missing: number }
  | { readonly ok: false; readonly seq: number; readonly reason: string }

export interface ExportedEvent {
  readonly event: JournalEvent
  readonly hash: string
}

/** A range of trimmed events, with the hash of the last one. */
export interface ExportedHole {
  readonly hole: {
    readonly from: number
    readonly to: number
    readonly hash: string
    readonly reason: string
    readonly types: readonly string[]
  }
}

/** An item that one store exports to another: an event with its hash, or the hole that trimming left. */
export type ExportedItem = ExportedEvent | ExportedHole

export interface VerifyOptions {
  /** A head that was stored elsewhere: the journal must contain it. */
  readonly head?: RememberedHead
  readonly signal?: AbortSignal
}

export interface ExportOptions {
  /** Only items after this `seq`; default 0, from the beginning. */
  readonly after?: number
  /** Maximum number of items: 1 to 10,000, default 1,000. */
  readonly limit?: number
  readonly signal?: AbortSignal
}

export interface TailExportOptions {
  /** Only items after this `seq`; default 0, from the beginning. */
  readonly after?: number
  readonly signal?: AbortSignal
}

/** A journal that can be checked and copied: in this process, or over HTTP. */
export interface JournalOrigin extends JournalReader {
  /** Checks the hash chain. With a `head` stored elsewhere, it also proves that no trailing events were removed. */
  verify(options?: VerifyOptions): Promise<Verification>
  /** A page of items for another store's `import`; empty at the end. */
  export(options?: ExportOptions): Promise<readonly ExportedItem[]>
  /** Past items for another store's `import`, then new ones, until the signal aborts. */
  tailExport(options?: TailExportOptions): AsyncIterableIterator<ExportedItem>
}
