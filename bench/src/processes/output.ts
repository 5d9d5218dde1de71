import { isGap, type JournalEvent } from '@vitrine/protocol'
import type { LocalSandbox } from '@vitrine/sandbox'
import { measurement } from '../measurement.ts'
import { median, type Row } from '../report.ts'
import { bareRecorder } from './bare-recorder.ts'
import { withSandbox } from './sandbox.ts'

const bar = 2

interface Sizes {
  readonly lines: number
  readonly rounds: number
  /** A journal budget that is smaller than the output. */
  readonly smallBudget: number
}

/** The output of `seq`. */
export function sequence(lines: number, end: '\n' | '\r\n'): Buffer {
  return Buffer.from(`${Array.from({ length: lines }, (_, index) => index + 1).join(end)}${end}`)
}

/** The output of a program that writes at full speed, through the journal to a live reader. */
export const output = measurement<Sizes>({
  name: 'output',
  what: 'seq 2000000 to a live reader: complete and in order, and head and tail within a budget',
  against: 'the same pipe decoded and inserted into the same table',
  bars: [`≤ ${bar} ×`, 'exact, within its budget'],
  sizes: {
    full: { lines: 2_000_000, rounds: 5, smallBudget: 1024 * 1024 },
    tiny: { lines: 200_000, rounds: 1, smallBudget: 256 * 1024 },
  },
  run,
})

async function run({ lines, rounds, smallBudget }: Sizes, signal: AbortSignal): Promise<Row[]> {
  const expected = sequence(lines, '\n')
  const ours: number[] = []
  const bare: number[] = []
  const ratios: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const base = await bareRecorder('seq', [String(lines)])
    const mine = await withSandbox({ isolation: 'none' }, signal, (sandbox) => watched(sandbox, lines))
    if (!Buffer.concat(mine.chunks.map(bytesOf)).equals(expected))
      throw new Error('The output is not complete.')
    checkOffsets(mine.chunks)
    bare.push(base)
    ours.push(mine.ms)
    ratios.push(mine.ms / base)
  }
  const ratio = median(ratios)
  const megabytes = (ms: number) => `${(expected.length / 1_000 / ms).toFixed(0)} MB/s`
  return [
    {
      what: `spawn seq ${lines}, ${expected.length} bytes, to a live reader: complete and in order`,
      measured: `${megabytes(median(ours))}, ${ratio.toFixed(2)} × the time`,
      against: `${megabytes(median(bare))} the same pipe decoded and inserted into the same table (no reader, no hashes)`,
      bar: `≤ ${bar} ×`,
      holds: ratio <= bar,
    },
    await overBudget(expected, { lines, smallBudget }, signal),
  ]
}

async function overBudget(
  expected: Buffer,
  { lines, smallBudget }: Omit<Sizes, 'rounds'>,
  signal: AbortSignal,
): Promise<Row> {
  const limits = { journalBytes: smallBudget }
  const { ms, chunks } = await withSandbox({ isolation: 'none', limits }, signal, (sandbox) =>
    watched(sandbox, lines),
  )
  const cut = chunks.findIndex(({ data }) => data.skipped !== undefined)
  const head = Buffer.concat(chunks.slice(0, Math.max(0, cut)).map(bytesOf))
  const tail = Buffer.concat(chunks.slice(Math.max(0, cut)).map(bytesOf))
  const skipped = Number(chunks[cut]?.data.skipped)
  const exact =
    head.length > 0 &&
    tail.length > 0 &&
    head.equals(expected.subarray(0, head.length)) &&
    tail.equals(expected.subarray(expected.length - tail.length)) &&
    head.length + skipped + tail.length === expected.length
  return {
    what: `the same with limits.journalBytes ${smallBudget}: head and tail, byte for byte`,
    measured: `${exact ? 'exact' : 'NOT exact'}: ${head.length} + ${tail.length} bytes kept, ${skipped} left out; ${(expected.length / 1_000 / ms).toFixed(0)} MB/s`,
    against: '',
    bar: 'exact, within its budget',
    holds: exact && head.length + tail.length <= smallBudget,
  }
}

/** Spawns `seq` and returns the milliseconds until a live reader has the exit event, and the chunks it received. */
async function watched(
  sandbox: LocalSandbox,
  lines: number,
): Promise<{ ms: number; chunks: JournalEvent[] }> {
  const chunks: JournalEvent[] = []
  const reading = (async () => {
    for await (const item of sandbox.journal.tail()) {
      if (isGap(item)) throw new Error('The reader found a gap.')
      if (item.type === 'process.output') chunks.push(item)
      if (item.type === 'process.exited') return
    }
  })()
  const began = performance.now()
  await sandbox.spawn(['seq', String(lines)])
  await reading
  return { ms: performance.now() - began, chunks }
}

function bytesOf({ data }: JournalEvent): Buffer {
  return Buffer.from(String(data.data), data.encoding === 'base64' ? 'base64' : 'utf8')
}

function checkOffsets(chunks: readonly JournalEvent[]): void {
  let offset = 0
  for (const chunk of chunks) {
    if (chunk.data.offset !== offset) throw new Error(`expected offset ${offset}, got ${chunk.data.offset}`)
    offset += bytesOf(chunk).length
  }
}
