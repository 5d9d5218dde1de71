import { type ExportedItem, isVitrineError, type JournalReader } from '@vitrine/protocol'
import type { Committer, JournalState } from './append/committer.ts'
import type { Blobs } from './blobs/blobs.ts'
import { type MirroredItem, mirroredItems, mirrorRequest, placeMirrored } from './mirror.ts'
import type { NewBlob } from './stores/contract.ts'

/** Blobs of this size are committed with the events before more are fetched: it bounds the memory of an import. */
const portionBytes = 16 * 1024 * 1024
const eventBytes = 512

export interface ImportOptions {
  /** The journal that the items are from: the blobs that this store does not have are read there. */
  readonly from?: Pick<JournalReader, 'blob'>
  readonly signal?: AbortSignal
}

/** A blob that an imported event refers to and that this store does not have. */
export interface MissingBlob {
  readonly hash: string
  /** The origin does not have it either, or this store has no room for it. */
  readonly code: 'blob_not_found' | 'blob_too_large' | 'blob_limit'
}

export interface ImportResult {
  readonly missingBlobs: readonly MissingBlob[]
}

interface Mirror {
  readonly journal: string
  readonly state: JournalState
  readonly committer: Committer
  readonly blobs: Blobs
}

/**
 * Imports items in order, each with the blobs that it refers to. Items that do not continue the journal are refused as a
 * whole. When a blob cannot be fetched, the items before it are there, and the next import continues after them.
 */
export async function importItems(
  mirror: Mirror,
  given: readonly ExportedItem[],
  { from, signal }: ImportOptions,
): Promise<ImportResult> {
  const { journal, state } = mirror
  const items = mirroredItems(given)
  const copy = new BlobCopy(mirror.blobs, from)
  const portion = new Portion(mirror)
  if (items.some(refersToBlobs)) placeMirrored(journal, items, state.head, 0)
  for (const item of items) {
    if (refersToBlobs(item) && item.event.seq > state.head.seq)
      for (const hash of item.blobs) {
        signal?.throwIfAborted()
        const blob = await copy.fetch(hash)
        if (blob !== undefined) portion.blobs.push(blob)
      }
    portion.items.push(item)
    if (portion.isFull) await portion.commit()
  }
  await portion.commit()
  await copy.restoreFreed()
  return { missingBlobs: copy.missing }
}

function refersToBlobs(item: MirroredItem): item is Exclude<MirroredItem, { hole: unknown }> {
  return 'blobs' in item && item.blobs.length > 0
}

/** Items and blobs for one commit. */
class Portion {
  readonly #mirror: Mirror
  items: MirroredItem[] = []
  blobs: NewBlob[] = []

  constructor(mirror: Mirror) {
    this.#mirror = mirror
  }

  get isFull(): boolean {
    return this.blobs.length > 0 && this.#blobBytes >= portionBytes
  }

  async commit(): Promise<void> {
    const { journal, state, committer } = this.#mirror
    const request = mirrorRequest(journal, this.items, this.blobs)
    const size = this.items.length * eventBytes + this.#blobBytes
    this.items = []
    this.blobs = []
    await committer.append(state, request, { size, ending: false })
  }

  get #blobBytes(): number {
    return this.blobs.reduce((sum, { bytes }) => sum + bytes.byteLength, 0)
  }
}

/** Fetches the blobs of an import, each once. */
class BlobCopy {
  readonly missing: MissingBlob[] = []
  readonly #blobs: Blobs
  readonly #from: ImportOptions['from']
  readonly #seen = new Set<string>()
  /** Those that were in the store before the import. */
  readonly #found: string[] = []

  constructor(blobs: Blobs, from: ImportOptions['from']) {
    this.#blobs = blobs
    this.#from = from
  }

  /** The blob, or undefined if it is already here or cannot be had. */
  async fetch(hash: string): Promise<NewBlob | undefined> {
    if (this.#seen.has(hash)) return undefined
    this.#seen.add(hash)
    if (!(await this.#blobs.has(hash))) return this.#read(hash)
    this.#found.push(hash)
    return undefined
  }

  /** A sweep may have freed a blob after it was found here, and before the event that refers to it was committed. */
  async restoreFreed(): Promise<void> {
    for (const hash of this.#found) {
      if (await this.#blobs.has(hash)) continue
      const blob = await this.#read(hash)
      if (blob !== undefined) await this.#blobs.store(blob)
    }
  }

  async #read(hash: string): Promise<NewBlob | undefined> {
    if (this.#from === undefined) return this.#isMissing(hash, 'blob_not_found')
    try {
      return await this.#blobs.prepareMirrored(hash, await this.#from.blob(hash))
    } catch (error) {
      if (!isVitrineError(error)) throw error
      const { code } = error
      if (code !== 'blob_not_found' && code !== 'blob_too_large' && code !== 'blob_limit') throw error
      return this.#isMissing(hash, code)
    }
  }

  #isMissing(hash: string, code: MissingBlob['code']): undefined {
    this.missing.push({ hash, code })
  }
}
