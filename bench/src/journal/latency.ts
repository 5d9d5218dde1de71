import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openStore, sqliteStore } from '@vitrine/journal'
import { isGap } from '@vitrine/protocol'
import { abortable } from '../abortable.ts'
import { measurement } from '../measurement.ts'
import { percentile, type Row } from '../report.ts'
import { inScratch } from '../scratch.ts'

interface Sizes {
  readonly perSecond: number
  /** The duration; the first second is left out. */
  readonly seconds: number
}

/** The time from the call of `append` until a live tail has the event, at a steady rate. */
export const latency = measurement<Sizes>({
  name: 'latency',
  what: 'append until a live tail has the event, at 1,000 events/s',
  bars: ['≤ 2 ms / ≤ 15 ms'],
  sizes: { full: { perSecond: 1_000, seconds: 10 }, tiny: { perSecond: 200, seconds: 2 } },
  run,
})

function run({ perSecond, seconds }: Sizes, signal: AbortSignal): Promise<Row[]> {
  return inScratch(async (folder) => {
    await using store = await openStore(sqliteStore({ path: join(folder, 'journal.db') }))
    const journal = await store.journal('sbx_bench')
    const total = perSecond * seconds
    const sentAt: number[] = []
    const took: number[] = []
    const reading = (async () => {
      for await (const item of journal.tail()) {
        if (isGap(item)) continue
        took.push(performance.now() - sentAt[item.seq]!)
        if (item.seq === total) return
      }
    })()
    const began = performance.now()
    for (let seq = 1; seq <= total; ) {
      const due = Math.min(total, Math.floor(((performance.now() - began) / 1_000) * perSecond))
      for (; seq <= due; seq += 1) {
        sentAt[seq] = performance.now()
        void journal.append([{ type: 'log.message', data: { level: 'info', message: 'x'.repeat(100) } }])
      }
      await sleep(1, undefined, { signal })
    }
    await abortable(signal, reading)
    const steady = took.slice(perSecond)
    const [p50, p99] = [percentile(steady, 0.5), percentile(steady, 0.99)]
    return [
      {
        what: `append → seen by a live tail at ${perSecond.toLocaleString('en')} events/s`,
        measured: `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`,
        against: '',
        bar: '≤ 2 ms / ≤ 15 ms',
        holds: p50 <= 2 && p99 <= 15,
      },
    ]
  })
}
