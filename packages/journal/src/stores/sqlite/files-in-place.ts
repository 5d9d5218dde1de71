import { statSync } from 'node:fs'
import { VitrineError } from '@vitrine/protocol'

/**
 * The files of an open store. SQLite continues to write to a file that was deleted or replaced, and all of it is lost
 * when the process ends.
 */
export class FilesInPlace {
  readonly #files: readonly { readonly path: string; readonly device: number; readonly inode: number }[]

  constructor(storePath: string) {
    this.#files = [storePath, `${storePath}-wal`].flatMap((path) => {
      const stat = statSync(path, { throwIfNoEntry: false })
      return stat === undefined ? [] : [{ path, device: stat.dev, inode: stat.ino }]
    })
  }

  /** Throws `store_failing` unless every file is still the one that was opened. */
  assert(): void {
    for (const { path, device, inode } of this.#files) {
      const stat = statSync(path, { throwIfNoEntry: false })
      if (stat?.ino === inode && stat.dev === device) continue
      const what = stat === undefined ? 'deleted' : 'replaced'
      throw new VitrineError(
        'store_failing',
        `The file ${path} of the store was ${what} while the store is open. Put it back, or close the host and restore a copy.`,
        { details: { path } },
      )
    }
  }
}
