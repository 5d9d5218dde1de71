import type { OpenWork, WorkKindName } from '@vitrine/protocol'
import type { Entry } from '../entry.ts'

/** Opens one kind of store: a file, memory, a database server. */
export interface StoreDriver {
  readonly kind: string
  open(options: StoreConnectOptions): Promise<StoreConnection>
}

export interface StoreConnectOptions {
  /** Raise the epoch and fence off an owner that is still alive. */
  readonly takeover: boolean
  readonly readOnly: boolean
}

/** A journal's newest event and its totals. */
export interface JournalHead {
  readonly id: string
  /** Random, set when the journal is created: it detects cursors of a lost journal with the same id. */
  readonly incarnation: string
  readonly seq: number
  readonly hash: string
  readonly time: number
  readonly events: number
  readonly bytes: number
  /** Whether it repeats another store's journal; only `import` writes to it. */
  readonly mirror: boolean
}

/** A range of trimmed events, with the hash of the last one, from which the chain continues. */
export interface Hole {
  readonly journal: string
  readonly from: number
  readonly to: number
  /** The commit position of the last event that was here. */
  readonly position: number
  readonly hash: string
  readonly reason: string
  /** The types of the trimmed events, or `*` if there were too many to list. */
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

/** One atomic transaction. */
export interface CommitBatch {
  readonly entries: readonly Entry[]
  readonly heads: readonly JournalHead[]
  readonly opened: readonly OpenWork[]
  readonly closed: readonly WorkKey[]
  readonly blobs: readonly NewBlob[]
  readonly references: readonly { readonly journal: string; readonly seq: number; readonly blob: string }[]
  readonly removals: readonly Removal[]
}

/** A range of one journal by `seq`, or of the whole store by commit position. */
export interface ScanRange {
  readonly journal: string | null
  /** Exclusive, in the direction of the scan. */
  readonly from: number
  /** Inclusive, in the direction of the scan. */
  readonly to: number
  readonly order: 'asc' | 'desc'
  readonly limit: number
  /** Stops after the entry with which the bodies reach this many characters. */
  readonly maxBytes?: number
  readonly types?: readonly string[]
  readonly session?: string
  readonly run?: string
  readonly text?: string
  /** Of a range of the whole store, only events of these journals. */
  readonly journals?: readonly string[]
}

/** The indexed columns of an event, without its body. */
export interface IndexRow {
  readonly position: number
  readonly seq: number
  readonly time: number
  readonly type: string
  readonly hash: string
  readonly bytes: number
}

/** Events to remove from a journal, and the holes they leave. */
export interface Removal {
  readonly journal: string
  /** Sorted. */
  readonly seqs: readonly number[]
  readonly droppedHoles: readonly Hole[]
  readonly holes: readonly Hole[]
}

/**
 * Everything that a store implementation must provide. Calls never overlap a `commit`.
 * Errors are `VitrineError`s: `store_failing` when the medium is full or broken and the same call may succeed
 * later, `store_fenced` when another owner raised the epoch, `store_busy` when another program holds a lock.
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
  /** Like `scan`, without the bodies. */
  index(range: ScanRange): Promise<IndexRow[]>
  /** The first `seq` after `from` and up to `to` whose indexed columns differ from its body. */
  firstIndexMismatch(journal: string, from: number, to: number): Promise<number | undefined>
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
  /** Makes a small durable write, to test whether the medium works again. */
  probe(): Promise<void>
  /** Frees the disk space that is reserved for end events, or reserves it again. */
  reserve(action: 'free' | 'take'): Promise<void>
  close(): Promise<void>
}
