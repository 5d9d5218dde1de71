import type { OpenWork, WorkKindName } from '@vitrine/protocol'
import type { Entry } from '../entry.ts'

/** A kind of store: a file, a memory, a database server. */
export interface StoreDriver {
  readonly kind: string
  open(options: ConnectOptions): Promise<StoreConnection>
}

export interface ConnectOptions {
  /** Raise the epoch and fence off an owner that still lives. */
  readonly takeover: boolean
  readonly readOnly: boolean
}

/** Where a journal ends, and what it holds. */
export interface JournalHead {
  readonly id: string
  /** Random, made with the journal: a cursor of a journal that was lost and made anew is recognised by it. */
  readonly incarnation: string
  readonly seq: number
  readonly hash: string
  readonly time: number
  readonly events: number
  readonly bytes: number
  /** It repeats another store's record, and is written by `import` alone. */
  readonly mirror: boolean
}

/** Events that were trimmed: a hole in the sequence, with the hash that the chain goes on from. */
export interface Hole {
  readonly journal: string
  readonly from: number
  readonly to: number
  /** Its place in the commit order: that of the last event that was here. */
  readonly position: number
  readonly hash: string
  readonly reason: string
  /** What was here, or `*` when that was too much to name. */
  readonly types: readonly string[]
}

export interface NewBlob {
  readonly hash: string
  readonly mediaType: string | null
  readonly bytes: Uint8Array
}

export interface BlobInfo {
  readonly hash: string
  readonly bytes: number
  readonly mediaType: string | null
}

export interface WorkKey {
  readonly journal: string
  readonly kind: WorkKindName
  readonly id: string
}

/** All of it is committed, or nothing. */
export interface CommitBatch {
  readonly entries: readonly Entry[]
  readonly heads: readonly JournalHead[]
  readonly opened: readonly OpenWork[]
  readonly closed: readonly WorkKey[]
  readonly blobs: readonly NewBlob[]
  readonly references: readonly { readonly journal: string; readonly seq: number; readonly blob: string }[]
  readonly removals: readonly Removal[]
}

/** A stretch of one journal by `seq`, or of the whole store by commit position. */
export interface ScanRange {
  readonly journal: string | null
  /** Exclusive, in the direction of the scan. */
  readonly from: number
  /** Inclusive, in the direction of the scan. */
  readonly to: number
  readonly order: 'asc' | 'desc'
  readonly limit: number
  /** Stops with the entry whose body makes it this many characters. */
  readonly maxBytes?: number
  readonly types?: readonly string[]
  readonly session?: string
  readonly run?: string
  readonly text?: string
}

/** What the store knows of an event without opening it. */
export interface IndexRow {
  readonly position: number
  readonly seq: number
  readonly time: number
  readonly type: string
  readonly hash: string
  readonly bytes: number
}

/** Events taken out of a journal, and the holes they leave. */
export interface Removal {
  readonly journal: string
  /** Sorted. */
  readonly seqs: readonly number[]
  readonly droppedHoles: readonly Hole[]
  readonly holes: readonly Hole[]
}

/**
 * All that a store must do; everything else is built on it. Calls never overlap a `commit`.
 * Errors are `VitrineError`s: `store_failing` when the medium is full or broken and the same call may succeed
 * later, `store_fenced` when another owner raised the epoch, `store_busy` when a foreign lock is held.
 */
export interface StoreConnection {
  readonly storeId: string
  readonly epoch: number
  readonly readOnly: boolean
  commit(batch: CommitBatch): Promise<void>
  head(journal: string): Promise<JournalHead | undefined>
  journals(): Promise<readonly string[]>
  /** The newest commit position, of an event or a hole, also when another process committed it. */
  lastPosition(): Promise<number>
  scan(range: ScanRange): Promise<Entry[]>
  /** The same stretch without the bodies. */
  index(range: ScanRange): Promise<IndexRow[]>
  /** The first `seq` after `from` and up to `to` that would be found as something its body does not say. */
  misfiled(journal: string, from: number, to: number): Promise<number | undefined>
  holes(journal: string | null, from: number, to: number): Promise<readonly Hole[]>
  openWork(): Promise<readonly OpenWork[]>
  putBlob(blob: NewBlob): Promise<void>
  blob(hash: string): Promise<BlobInfo | undefined>
  /** At most `length` bytes of a blob from `offset` on. */
  blobPart(hash: string, offset: number, length: number): Promise<Uint8Array>
  blobBytes(): Promise<number>
  /** Frees blobs that no event refers to and that were stored before `before`. */
  freeBlobs(before: number): Promise<number>
  sinkCursor(name: string): Promise<number | undefined>
  setSinkCursor(name: string, position: number): Promise<void>
  /** Whether this connection may still write. */
  owns(): Promise<boolean>
  /** Writes something small and lasting, to learn whether the medium takes it again. */
  probe(): Promise<void>
  /** Gives up the space kept back for endings, or takes it again. */
  reserve(action: 'free' | 'take'): Promise<void>
  close(): Promise<void>
}
