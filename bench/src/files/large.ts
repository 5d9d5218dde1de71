import { randomFillSync } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { measurement } from '../measurement.ts'
import { alternate } from '../processes/alternate.ts'
import { withSandbox } from '../processes/sandbox.ts'
import { median, type Row } from '../report.ts'
import { drain } from './drain.ts'

const chunkBytes = 256 * 1024

interface Sizes {
  readonly megabytes: number
  readonly rounds: number
}

/** Streaming a file that is not buffered in memory. */
export const large = measurement<Sizes>({
  name: 'large',
  what: 'write and read of a stream of 50 MB, watching on',
  against: 'createWriteStream; createReadStream',
  sizes: { full: { megabytes: 50, rounds: 9 }, tiny: { megabytes: 1, rounds: 1 } },
  run,
})

function run({ megabytes, rounds }: Sizes, signal: AbortSignal): Promise<Row[]> {
  const bytes = megabytes * 1_000_000
  return withSandbox({ isolation: 'none' }, signal, async (sandbox, folder) => {
    const file = join(folder, 'raw.bin')
    const order = { rounds, warmUp: 2, between: () => sandbox.files.flush(), signal }
    const written = await alternate(
      {
        raw: () => pipeline(chunks(bytes), createWriteStream(file)),
        ours: () => sandbox.files.write('ours.bin', ReadableStream.from(chunks(bytes))),
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
      row(`write of a stream of ${megabytes} MB, watching on`, written, 'createWriteStream'),
      row(`read of a stream of ${megabytes} MB, watching on`, read, 'createReadStream, parts as large'),
    ]
  })
}

function* chunks(bytes: number): Generator<Uint8Array> {
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
