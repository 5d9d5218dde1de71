import { randomFillSync } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  linkSync,
  mkdirSync,
  openSync,
  symlinkSync,
  utimesSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

const mib = 1024 * 1024
const fileBytes = Math.ceil((100 * mib) / 5_000)

export interface WorkspaceSource {
  readonly what: string
  /**
   * Whether hydrated workspaces stay until the end. For seconds after many files are removed, a file system may skip what
   * was freed, which makes creating files slow.
   */
  readonly keeps: boolean
  create(root: string): void
}

/** Many files of 20 KiB, with different modes, times and links. */
export const manyFilesOf = (files: number): WorkspaceSource => ({
  what: `${files.toLocaleString('en')} files, ${Math.round((files * fileBytes) / mib)} MiB`,
  keeps: true,
  create(root) {
    for (let index = 0; index < files; index += 1) {
      const name = index % 50 === 0 ? `naïve 日本語 ${index}.txt` : `file-${index}.txt`
      const path = join(root, `part-${index % 10}`, `folder-${index % 100}`, name)
      writeRandom(path, fileBytes)
      chmodSync(path, [0o644, 0o755, 0o600][index % 3]!)
      // A time in the past with a fraction of a second.
      utimesSync(path, 1_600_000_000, 1_600_000_000 + index * 1.000_123)
      if (index % 25 === 0) symlinkSync(`file-${index + 1}.txt`, `${path}.link`)
      if (index % 40 === 0) linkSync(path, `${path}.same`)
    }
    symlinkSync('/nowhere/at all', join(root, 'dangling'))
    mkdirSync(join(root, 'empty'), { mode: 0o750 })
    for (let folder = 0; folder < Math.min(files, 100); folder += 1)
      utimesSync(
        join(root, `part-${folder % 10}`, `folder-${folder}`),
        1_500_000_000,
        1_500_000_000.25 + folder,
      )
  },
})

/** Four files with the given total size. */
export const largeFilesOf = (mebibytes: number): WorkspaceSource => ({
  what: `4 files, ${mebibytes.toLocaleString('en')} MiB`,
  keeps: false,
  create(root) {
    for (const name of ['one', 'two', 'three', 'four']) writeRandom(join(root, name), (mebibytes / 4) * mib)
  },
})

function writeRandom(path: string, bytes: number): void {
  mkdirSync(dirname(path), { recursive: true })
  const chunk = Buffer.allocUnsafe(Math.min(bytes, mib))
  const fd = openSync(path, 'w')
  for (let left = bytes; left > 0; left -= chunk.length) {
    randomFillSync(chunk)
    writeSync(fd, chunk, 0, Math.min(left, chunk.length))
  }
  closeSync(fd)
}
