import { hash } from 'node:crypto'
import type { Disk, OpenDirectory } from './disk.ts'
import type { EntryStat } from './entry-stat.ts'
import type { TreeNode } from './node.ts'

export interface DigestedContent {
  readonly bytes: Uint8Array
  readonly digest: string
  /** The attributes that belong to the bytes. They are newer than those of the check if the file was written to meanwhile. */
  readonly stat: EntryStat
}

/** Reads the contents of files up to a maximum size. */
export class ContentReader {
  readonly maxBytes: number
  readonly #disk: Disk

  constructor(disk: Disk, maxBytes: number) {
    this.#disk = disk
    this.maxBytes = maxBytes
  }

  /** Undefined if the entry is not a regular file, is too large or cannot be read. */
  read(node: TreeNode, now: EntryStat): DigestedContent | undefined {
    if (now.kind !== 'file' || now.size > this.maxBytes || node.parent === undefined) return undefined
    let open: OpenDirectory | undefined
    try {
      open = this.#disk.open(node.parent)
      const found = open?.read(node.name, this.maxBytes)
      if (found === undefined) return undefined
      const { bytes, stat } = found
      const digest = hash('sha256', bytes, 'base64url')
      const same = stat !== undefined && stat.ino === now.ino
      return { bytes, digest, stat: same ? stat : { ...now, size: bytes.byteLength } }
    } catch {
      return undefined
    } finally {
      open?.close()
    }
  }
}
