import type { ExportedItem, ExportOptions, TailExportOptions } from '@vitrine/protocol'
import { checkOptions, journalOptions } from '@vitrine/protocol/options'
import { assertNotAhead, type ReadScope } from './read-scope.ts'
import { mapInSlices, type Reader } from './reader.ts'
import { readingSlice } from './reading-slice.ts'
import { keyOf, type ScannedItem } from './scan.ts'
import type { Tail } from './tail.ts'

/** An exported item as JSON, with the event's bytes as they are stored and hashed. */
export interface EncodedExport {
  /** The `seq` to continue after. */
  readonly seq: number
  readonly json: string
}

export interface TailExportEncodedOptions extends TailExportOptions {
  /** The most items that are buffered for one reader, 1 to 10,000; default 1,000. */
  readonly page?: number
}

/** Exports one journal: its events with their hashes, and the holes between them. */
export class Exporter {
  readonly #reader: Reader
  readonly #scope: ReadScope

  constructor(reader: Reader, scope: ReadScope) {
    this.#reader = reader
    this.#scope = scope
  }

  async page(options?: ExportOptions): Promise<readonly ExportedItem[]> {
    checkOptions('export', journalOptions.export, options)
    return this.#page(options, toExported)
  }

  async encodedPage(options?: ExportOptions): Promise<readonly EncodedExport[]> {
    checkOptions('exportEncoded', journalOptions.export, options)
    return this.#page(options, (found) => this.#encode(found))
  }

  async #page<Item>(
    { after = 0, limit = 1_000, signal }: ExportOptions = {},
    toItem: (found: ScannedItem) => Item,
  ): Promise<readonly Item[]> {
    this.#reader.assertOpen()
    const key = await this.#start(after)
    const { found } = await this.#reader.after(this.#scope, key, {}, limit, signal)
    return mapInSlices(found, readingSlice(), toItem)
  }

  tail(options: TailExportOptions = {}): Tail<ExportedItem> {
    checkOptions('tailExport', journalOptions.tailExport, options)
    const { after = 0, ...rest } = options
    return this.#reader.follow(this.#scope, () => this.#start(after), rest, toExported)
  }

  tailEncoded(options: TailExportEncodedOptions = {}): Tail<EncodedExport> {
    checkOptions('tailExportEncoded', journalOptions.tailExportEncoded, options)
    const { after = 0, ...rest } = options
    return this.#reader.follow(
      this.#scope,
      () => this.#start(after),
      rest,
      (found) => this.#encode(found),
    )
  }

  /** A copy that is ahead of its origin is no copy of it: the origin may have been restored from an older one. */
  async #start(after: number): Promise<number> {
    assertNotAhead(String(this.#scope.journal), after, await this.#scope.end())
    return after
  }

  #encode(found: ScannedItem): EncodedExport {
    const seq = keyOf(found, this.#scope.journal)
    if (!('body' in found)) return { seq, json: JSON.stringify(toExported(found)) }
    return { seq, json: `{"event":${found.text},"hash":"${found.hash}"}` }
  }
}

function toExported(found: ScannedItem): ExportedItem {
  if ('body' in found) return { event: found.event, hash: found.hash }
  const { from, to, hash, reason, types } = found
  return { hole: { from, to, hash, reason, types } }
}
