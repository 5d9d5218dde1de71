import { newId, type OpenWork, VitrineError } from '@vitrine/protocol'
import type { Entry } from '../entry.ts'
import type {
  BlobInfo,
  CommitBatch,
  Hole,
  IndexRow,
  JournalHead,
  NewBlob,
  Removal,
  ScanRange,
  StoreConnection,
  StoreDriver,
  WorkKey,
} from './contract.ts'
import { entryMatcher } from './entry-matcher.ts'

/**
 * A store in memory, lost when the process exits: for tests and for sandboxes whose record is not needed later.
 * Opening the same driver again after closing finds the same contents.
 *
 * @example
 * const store = await openStore(memoryStore())
 */
export function memoryStore(): StoreDriver {
  const contents = new MemoryContents()
  return {
    kind: 'memory',
    async open({ takeover, readOnly }) {
      if (!readOnly) {
        if (contents.owned && !takeover) {
          throw new VitrineError('store_owned', 'The memory store is owned by an open store of this process.')
        }
        contents.epoch += 1
        contents.owned = true
      }
      return new MemoryConnection(contents, readOnly)
    },
  }
}

class MemoryContents {
  readonly storeId = newId('store')
  epoch = 0
  owned = false
  /** In commit order, without trimmed ones. */
  entries: Entry[] = []
  readonly byJournal = new Map<string, Entry[]>()
  readonly heads = new Map<string, JournalHead>()
  holes: Hole[] = []
  readonly work = new Map<string, OpenWork>()
  readonly blobs = new Map<string, NewBlob & { readonly storedAt: number }>()
  readonly references = new Map<string, readonly string[]>()
  readonly sinks = new Map<string, number>()
}

class MemoryConnection implements StoreConnection {
  readonly storeId: string
  readonly epoch: number
  readonly readOnly: boolean
  readonly #contents: MemoryContents

  constructor(contents: MemoryContents, readOnly: boolean) {
    this.#contents = contents
    this.storeId = contents.storeId
    this.epoch = contents.epoch
    this.readOnly = readOnly
  }

  async commit(batch: CommitBatch): Promise<void> {
    this.#assertOwner()
    const { entries, byJournal, heads, work, references } = this.#contents
    for (const head of batch.heads) heads.set(head.id, head)
    for (const entry of batch.entries) {
      entries.push(entry)
      const own = byJournal.get(entry.journal)
      if (own) own.push(entry)
      else byJournal.set(entry.journal, [entry])
    }
    for (const opened of batch.opened) work.set(workKey(opened), opened)
    for (const closed of batch.closed) work.delete(workKey(closed))
    for (const blob of batch.blobs) this.#store(blob)
    for (const { journal, seq, blob } of batch.references) {
      const key = `${seq} ${journal}`
      references.set(key, [...(references.get(key) ?? []), blob])
    }
    for (const removal of batch.removals) this.#remove(removal)
  }

  #remove({ journal, seqs, droppedHoles, holes }: Removal): void {
    const contents = this.#contents
    const removed = new Set(seqs)
    const stays = (entry: Entry) => entry.journal !== journal || !removed.has(entry.seq)
    contents.entries = contents.entries.filter(stays)
    contents.byJournal.set(journal, (contents.byJournal.get(journal) ?? []).filter(stays))
    for (const seq of seqs) contents.references.delete(`${seq} ${journal}`)
    const dropped = new Set(droppedHoles.map((hole) => hole.from))
    contents.holes = contents.holes
      .filter((hole) => hole.journal !== journal || !dropped.has(hole.from))
      .concat(holes)
      .toSorted((a, b) => a.position - b.position)
  }

  async head(journal: string): Promise<JournalHead | undefined> {
    return this.#contents.heads.get(journal)
  }

  async journals(): Promise<readonly string[]> {
    return [...this.#contents.heads.keys()]
  }

  async lastPosition(): Promise<number> {
    const { entries, holes } = this.#contents
    return Math.max(entries.at(-1)?.position ?? 0, holes.at(-1)?.position ?? 0)
  }

  async scan(range: ScanRange): Promise<Entry[]> {
    const { journal, from, to, order, limit, maxBytes = Number.POSITIVE_INFINITY } = range
    const entries = journal === null ? this.#contents.entries : (this.#contents.byJournal.get(journal) ?? [])
    const key = journal === null ? (entry: Entry) => entry.position : (entry: Entry) => entry.seq
    const matches = entryMatcher(range)
    const found: Entry[] = []
    let bytes = 0
    const step = order === 'asc' ? 1 : -1
    let index = order === 'asc' ? firstAbove(entries, key, from) : firstAbove(entries, key, from - 1) - 1
    for (; found.length < limit && bytes < maxBytes; index += step) {
      const entry = entries[index]
      if (entry === undefined || (order === 'asc' ? key(entry) > to : key(entry) < to)) break
      if (matches && !matches(entry)) continue
      found.push(entry)
      bytes += entry.body.length
    }
    return found
  }

  async index(range: ScanRange): Promise<IndexRow[]> {
    return (await this.scan(range)).map(({ position, seq, hash, body, event }) => ({
      position,
      seq,
      time: Date.parse(event.time),
      type: event.type,
      hash,
      bytes: body.length,
    }))
  }

  async firstIndexMismatch(): Promise<undefined> {}

  async holes(journal: string | null, from: number, to: number): Promise<readonly Hole[]> {
    if (journal === null)
      return this.#contents.holes.filter((hole) => hole.position >= from && hole.position <= to)
    return this.#contents.holes
      .filter((hole) => hole.journal === journal && hole.from <= to && hole.to >= from)
      .toSorted((a, b) => a.from - b.from)
  }

  async openWork(): Promise<readonly OpenWork[]> {
    return [...this.#contents.work.values()]
  }

  async putBlob(blob: NewBlob): Promise<void> {
    this.#assertOwner()
    this.#store(blob)
  }

  #store({ hash, mediaType, bytes }: NewBlob): void {
    const known = this.#contents.blobs.get(hash)
    this.#contents.blobs.set(hash, { hash, mediaType, bytes: bytes.slice(), ...known, storedAt: Date.now() })
  }

  async blob(hash: string): Promise<BlobInfo | undefined> {
    const blob = this.#contents.blobs.get(hash)
    return blob && { hash, bytes: blob.bytes.byteLength, mediaType: blob.mediaType }
  }

  async blobPart(hash: string, offset: number, length: number): Promise<Uint8Array> {
    return this.#contents.blobs.get(hash)?.bytes.slice(offset, offset + length) ?? new Uint8Array()
  }

  async blobBytes(): Promise<number> {
    let total = 0
    for (const { bytes } of this.#contents.blobs.values()) total += bytes.byteLength
    return total
  }

  async freeBlobs(before: number): Promise<number> {
    this.#assertOwner()
    const { blobs, references } = this.#contents
    const inUse = new Set([...references.values()].flat())
    let freed = 0
    for (const [hash, { storedAt }] of blobs) {
      if (storedAt >= before || inUse.has(hash)) continue
      blobs.delete(hash)
      freed += 1
    }
    return freed
  }

  async sinkCursor(name: string): Promise<number | undefined> {
    return this.#contents.sinks.get(name)
  }

  async setSinkCursor(name: string, position: number): Promise<void> {
    this.#assertOwner()
    this.#contents.sinks.set(name, position)
  }

  async owns(): Promise<boolean> {
    return this.#contents.epoch === this.epoch
  }

  async probe(): Promise<void> {
    this.#assertOwner()
  }

  async reserve(): Promise<void> {}

  async close(): Promise<void> {
    if (!this.readOnly && this.#contents.epoch === this.epoch) this.#contents.owned = false
  }

  #assertOwner(): void {
    if (this.readOnly) throw new VitrineError('store_read_only', 'The memory store was opened read-only.')
    if (this.#contents.epoch !== this.epoch) {
      throw new VitrineError('store_fenced', 'Another host took over the memory store.')
    }
  }
}

function workKey({ journal, kind, id }: WorkKey): string {
  return `${kind} ${id} ${journal}`
}

/** The index of the first entry whose key is above a bound: entries are sorted, with holes. */
function firstAbove(entries: readonly Entry[], key: (entry: Entry) => number, bound: number): number {
  let low = 0
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (key(entries[middle]!) > bound) high = middle
    else low = middle + 1
  }
  return low
}
