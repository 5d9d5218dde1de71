import { write } from 'node:fs'
import { promisify } from 'node:util'
import { fileError } from '../files/errors.ts'

const writePart = promisify(write)

/**
 * Writes what was packed to the end of a file, and says how much it was. A chunk is written while the next one is
 * packed.
 */
export async function save(
  chunks: AsyncGenerator<Uint8Array, void>,
  fd: number,
  told: string,
): Promise<number> {
  let bytes = 0
  let writing: Promise<void> | undefined
  try {
    for await (const chunk of chunks) {
      await writing
      writing = writeAll(fd, chunk)
      // It may fail before it is waited for.
      writing.catch(() => undefined)
      bytes += chunk.length
    }
    await writing
    return bytes
  } catch (error) {
    await writing?.catch(() => undefined)
    throw fileError(error, told)
  }
}

async function writeAll(fd: number, chunk: Uint8Array): Promise<void> {
  for (let done = 0; done < chunk.length; )
    done += (await writePart(fd, chunk, done, chunk.length - done)).bytesWritten
}
