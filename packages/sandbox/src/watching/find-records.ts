import type { FileKind } from '@vitrine/protocol'
import { decodePathText } from '@vitrine/protocol/primitives'
import type { EntryStat } from './entry-stat.ts'

/** A listed entry and its children. */
export interface FindRecord {
  readonly stat: EntryStat
  /** Set for a directory that can be read. */
  readonly children?: Map<string, FindRecord>
}

/** The format of a listing: the separator before each record, and how its fields are parsed. */
export interface FindFormat {
  readonly separator: Buffer
  kind(field: string): FileKind | 'unreadable'
  mode(field: string): number
}

const fieldCount = 9

/**
 * Parses a listing in chunks of any size. Each entry is a separator and a record; a directory comes before its entries.
 * The last record is `end`. A listing without it is incomplete and is discarded.
 */
export class FindRecords {
  readonly #format: FindFormat
  readonly #top: Map<string, FindRecord> = new Map()
  #rest: Buffer = Buffer.alloc(0)
  #started = false

  constructor(format: FindFormat) {
    this.#format = format
  }

  add(chunk: Uint8Array): void {
    const { separator } = this.#format
    // The remainder contains no complete separator, but may end with the beginning of one.
    let look = Math.max(0, this.#rest.length - separator.length + 1)
    const bytes = this.#rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#rest, chunk])
    let from = 0
    for (let at = bytes.indexOf(separator, look); at >= 0; at = bytes.indexOf(separator, look)) {
      this.#readRecord(bytes.subarray(from, at))
      from = at + separator.length
      look = from
    }
    this.#rest = bytes.subarray(from)
  }

  /** Returns all entries, or undefined if the listing is incomplete. */
  end(): Map<string, FindRecord> | undefined {
    return this.#started && this.#rest.toString('latin1') === 'end' ? this.#top : undefined
  }

  #readRecord(record: Buffer): void {
    if (!this.#started) {
      // There is no record before the first separator.
      this.#started = true
      return
    }
    const fields: string[] = []
    let at = 0
    while (fields.length < fieldCount) {
      const space = record.indexOf(0x20, at)
      if (space < 0) return
      fields.push(record.toString('latin1', at, space))
      at = space + 1
    }
    this.#addEntry(fields, decodePathText(record.subarray(at)).split('/').slice(1))
  }

  #addEntry(fields: readonly string[], names: readonly string[]): void {
    const [kind = '', mode = '', ...numbers] = fields
    const [ino = 0, size = 0, modified = 0, changed = 0, links = 0, owner = 0, group = 0] =
      numbers.map(Number)
    const parent = names
      .slice(0, -1)
      .reduce<Map<string, FindRecord> | undefined>(
        (directory, name) => directory?.get(name)?.children,
        this.#top,
      )
    const name = names.at(-1)
    // The entry's directory was removed during the listing.
    if (parent === undefined || name === undefined) return
    const found = this.#format.kind(kind)
    const stat: EntryStat = {
      kind: found === 'unreadable' ? 'directory' : found,
      ino,
      born: 0,
      mode: this.#format.mode(mode),
      size,
      modified: modified * 1_000,
      changed: changed * 1_000,
      links,
      owner,
      group,
    }
    parent.set(name, { stat, ...(found === 'directory' && { children: new Map() }) })
  }
}
