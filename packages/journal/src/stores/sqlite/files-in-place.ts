import { statSync } from 'node:fs'
import { VitrineError } from '@vitrine/protocol'

/** How long the log is not checked again: a check costs about as much as a tenth of a small commit. */
const logCheckMs = 50

/**
 * The files of an open store. SQLite continues to write to a file that was deleted or replaced, and all of it is lost
 * when the process ends.
 */
export class FilesInPlace {
  readonly #database: OpenedFile
  readonly #log: OpenedFile
  #logCheckedAt = Number.NEGATIVE_INFINITY

  constructor(storePath: string) {
    this.#database = new OpenedFile(storePath)
    this.#log = new OpenedFile(`${storePath}-wal`)
  }

  /** Throws `store_failing` unless the database and its log are the files that were opened. */
  assert(): void {
    this.#database.assertInPlace()
    const now = performance.now()
    if (now - this.#logCheckedAt < logCheckMs) return
    this.#log.assertInPlace()
    this.#logCheckedAt = now
  }
}

class OpenedFile {
  readonly #path: string
  readonly #inode: number | undefined

  constructor(path: string) {
    this.#path = path
    this.#inode = inodeOf(path)
  }

  assertInPlace(): void {
    if (this.#inode === undefined) return
    const inode = inodeOf(this.#path)
    if (inode === this.#inode) return
    const what = inode === undefined ? 'deleted' : 'replaced'
    throw new VitrineError(
      'store_failing',
      `The file ${this.#path} of the store was ${what} while the store is open. Put it back, or close the host and restore a copy.`,
      { details: { path: this.#path } },
    )
  }
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino
}
