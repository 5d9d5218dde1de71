import { read } from 'node:fs'
import { promisify } from 'node:util'
import type { Extent } from './member.ts'
import type { TimeSlice } from './time-slice.ts'

const blockBytes = 4 * 1024
const chunkBytes = 1024 * 1024
/** From this number of extents on, further holes are stored as zeros. */
const maxExtents = 100_000
const zeros = Buffer.alloc(chunkBytes)
const readPart = promisify(read)

/** Finds the extents of a file that are not zeros, in whole blocks. */
export async function extentsOf(fd: number, size: number, timeSlice: TimeSlice): Promise<Extent[]> {
  const chunk = Buffer.allocUnsafeSlow(Math.min(chunkBytes, size))
  const found: { at: number; length: number }[] = []
  const add = (at: number, length: number) => {
    const last = found.at(-1)
    if (last !== undefined && (last.at + last.length === at || found.length === maxExtents))
      last.length = at + length - last.at
    else found.push({ at, length })
  }
  for (let at = 0; at < size; ) {
    const { bytesRead } = await readPart(fd, chunk, 0, Math.min(chunk.length, size - at), at)
    if (bytesRead === 0) break
    if (!isZero(chunk, 0, bytesRead))
      for (let from = 0; from < bytesRead; from += blockBytes) {
        const to = Math.min(from + blockBytes, bytesRead)
        if (!isZero(chunk, from, to)) add(at + from, to - from)
      }
    at += bytesRead
    timeSlice.check()
  }
  return found
}

function isZero(chunk: Buffer, from: number, to: number): boolean {
  return chunk[from] === 0 && chunk.compare(zeros, 0, to - from, from, to) === 0
}
