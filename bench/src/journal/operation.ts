import { join } from 'node:path'
import { jsonlSink, openStore, sqliteStore } from '@vitrine/journal'
import { measurement } from '../measurement.ts'
import { traced } from '../processes/traced.ts'
import { percentile, type Row } from '../report.ts'
import { inScratch } from '../scratch.ts'

interface Sizes {
  readonly calls: number
  readonly warmUp: number
}

/** The overhead of an operation over the bare call: two commits, a span, a JSONL sink. */
export const operation = measurement<Sizes>({
  name: 'operation',
  what: 'an operation with journal, span and one JSONL sink',
  against: 'the bare call',
  bars: ['≤ +100 µs'],
  sizes: { full: { calls: 10_000, warmUp: 2_000 }, tiny: { calls: 50, warmUp: 10 } },
  run,
})

function run(sizes: Sizes, signal: AbortSignal): Promise<Row[]> {
  return traced((forget) => measure(sizes, forget, signal))
}

function measure({ calls, warmUp }: Sizes, forget: () => void, signal: AbortSignal): Promise<Row[]> {
  return inScratch(async (folder) => {
    await using store = await openStore(sqliteStore({ path: join(folder, 'journal.db') }))
    await store.addSink('audit', jsonlSink({ path: join(folder, 'audit.jsonl') }))
    const journal = await store.journal('sbx_bench')
    const bare: number[] = []
    const instrumented: number[] = []
    for (let call = 0; call < calls; call += 1) {
      signal.throwIfAborted()
      let began = performance.now()
      await work()
      bare.push(performance.now() - began)
      began = performance.now()
      await journal.operate('exec', { argv: ['true'] }, work)
      instrumented.push(performance.now() - began)
      if (call % 500 === 0) forget()
    }
    await journal.flush()
    const p50 = (took: readonly number[]) => percentile(took.slice(warmUp), 0.5) * 1_000
    const added = p50(instrumented) - p50(bare)
    return [
      {
        what: 'an operation with journal, span and one JSONL sink',
        measured: `+${added.toFixed(0)} µs at p50`,
        against: `${p50(bare).toFixed(0)} µs bare call`,
        bar: '≤ +100 µs',
        holds: added <= 100,
      },
    ]
  })
}

/** The bare call yields once, as every real one does. */
async function work(): Promise<number> {
  await new Promise(setImmediate)
  return 0
}
