import type { FileKind } from '@vitrine/protocol'
import { fromBytes } from '../files/exact-text.ts'
import type { Seen } from './node.ts'

/** One thing that was found, and what is below it. */
export interface FindRecord {
  readonly seen: Seen
  /** Below a directory; absent where it may not be read. */
  readonly children?: Map<string, FindRecord>
}

/** How a listing is written: what stands before each record, and how the numbers in it are read. */
export interface FindFormat {
  readonly separator: Buffer
  kind(field: string): FileKind | 'unreadable'
  mode(field: string): number
}

const fieldCount = 9

/**
 * Reads a listing as bytes, however they come: a separator and a record for each thing, whatever holds it before it,
 * and at last the record `end`. Without that, nothing of it counts.
 */
export class FindRecords {
  readonly #format: FindFormat
  readonly #top: Map<string, FindRecord> = new Map()
  #rest: Buffer = Buffer.alloc(0)
  #begun = false

  constructor(format: FindFormat) {
    this.#format = format
  }

  add(chunk: Uint8Array): void {
    const { separator } = this.#format
    // What was looked through already holds no separator, but it may hold the beginning of one.
    let look = Math.max(0, this.#rest.length - separator.length + 1)
    const bytes = this.#rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#rest, chunk])
    let from = 0
    for (let at = bytes.indexOf(separator, look); at >= 0; at = bytes.indexOf(separator, look)) {
      this.#take(bytes.subarray(from, at))
      from = at + separator.length
      look = from
    }
    this.#rest = bytes.subarray(from)
  }

  /** Everything, or nothing where the listing is not whole. */
  end(): Map<string, FindRecord> | undefined {
    return this.#begun && this.#rest.toString('latin1') === 'end' ? this.#top : undefined
  }

  #take(record: Buffer): void {
    if (!this.#begun) {
      // Before the first separator stands nothing.
      this.#begun = true
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
    this.#put(fields, fromBytes(record.subarray(at)).split('/').slice(1))
  }

  #put(fields: readonly string[], names: readonly string[]): void {
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
    // Its directory was gone before the listing came to it.
    if (parent === undefined || name === undefined) return
    const found = this.#format.kind(kind)
    const seen: Seen = {
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
    parent.set(name, { seen, ...(found === 'directory' && { children: new Map() }) })
  }
}
