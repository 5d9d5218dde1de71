import { closeSync, constants, openSync, unlinkSync, write } from 'node:fs'
import { promisify } from 'node:util'
import { randomHex } from '@vitrine/protocol'
import type { ByteSource } from './byte-source.ts'
import { fileError } from './directories/errors.ts'
import type { Handle } from './directories/handle.ts'
import type { ArchiveTally } from './limits.ts'

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDWR } = constants
const writePart = promisify(write)

/** An unlinked temporary file, freed when it is closed. */
export interface SpooledFile {
  readonly fd: number
  readonly size: number
  close(): void
}

/** Writes a zip to a temporary file, because its directory is at the end. */
export async function spool(source: ByteSource, into: Handle, tally: ArchiveTally): Promise<SpooledFile> {
  const path = into.at(`spool-${randomHex(8)}`)
  const fd = openSync(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR, 0o600)
  try {
    unlinkSync(path)
    let size = 0
    for (let chunk = await source.next(); chunk !== undefined; chunk = await source.next()) {
      tally.input(chunk.length)
      for (let done = 0; done < chunk.length; ) {
        const { bytesWritten } = await writePart(fd, chunk, done, chunk.length - done, size + done)
        done += bytesWritten
      }
      size += chunk.length
    }
    return { fd, size, close: () => closeSync(fd) }
  } catch (error) {
    closeSync(fd)
    throw error instanceof Error && 'syscall' in error ? fileError(error, 'the archive') : error
  }
}
