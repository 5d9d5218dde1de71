import { randomFillSync } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { alternate } from '../processes/alternate.ts'
import { withSandbox } from '../processes/sandbox.ts'
import { median, type Row } from '../report.ts'
import { drain } from './drain.ts'

const bytes = 50_000_000
const chunkBytes = 256 * 1024
const rounds = 9

/** A file that nobody holds in memory. */
export async function large(): Promise<Row[]> {
  return withSandbox({ isolation: 'none' }, async (sandbox, folder) => {
    const file = join(folder, 'raw.bin')
    const order = { rounds, warmUp: 2, between: () => sandbox.files.flush() }
    const written = await alternate(
      {
        raw: () => pipeline(chunks(), createWriteStream(file)),
        ours: () => sandbox.files.write('ours.bin', ReadableStream.from(chunks())),
      },
      order,
    )
    const read = await alternate(
      {
        raw: () => readAll(createReadStream(file, { highWaterMark: chunkBytes })),
        ours: async () => drain(await sandbox.files.read('ours.bin')),
      },
      order,
    )
    return [
      row('write of a stream of 50 MB, watching on', written, 'createWriteStream'),
      row('read of a stream of 50 MB, watching on', read, 'createReadStream, parts as large'),
    ]
  })
}

function* chunks(): Generator<Uint8Array> {
  const chunk = randomFillSync(Buffer.allocUnsafe(chunkBytes))
  for (let left = bytes; left > 0; left -= chunkBytes) yield chunk.subarray(0, Math.min(left, chunkBytes))
}

async function readAll(stream: Readable): Promise<void> {
  for await (const _ of stream);
}

function row(what: string, took: { readonly raw: number[]; readonly ours: number[] }, against: string): Row {
  const [mine, bare] = [median(took.ours), median(took.raw)]
  return {
    what,
    measured: `${mine.toFixed(0)} ms, ${(mine / bare).toFixed(2)} ×`,
    against: `${bare.toFixed(0)} ms ${against}`,
    bar: '',
    holds: null,
  }
}
