import { join } from 'node:path'
import { openStore, sqliteStore } from '@vitrine/journal'
import { measurement } from '../measurement.ts'
import { percentile, type Row } from '../report.ts'
import { inScratch } from '../scratch.ts'
import { smallEvent } from './events.ts'

const batch = 1_000
const sliceBarMs = 10

interface Sizes {
  readonly total: number
  readonly retained: number
  readonly idleMs: number
}

/** The longest turns of the event loop while a journal is trimmed, and on an idle loop for comparison. */
export const trim = measurement<Sizes>({
  name: 'trim',
  what: 'how long a turn of the event loop takes while 300,000 events are trimmed',
  against: 'an idle event loop',
  bars: [`≤ ${sliceBarMs} ms, 99 of 100`],
  sizes: {
    full: { total: 300_000, retained: 1_000, idleMs: 2_000 },
    tiny: { total: 5_000, retained: 1_000, idleMs: 100 },
  },
  run,
})

function run({ total, retained, idleMs }: Sizes, signal: AbortSignal): Promise<Row[]> {
  return inScratch(async (folder) => {
    await using store = await openStore(sqliteStore({ path: join(folder, 'journal.db') }))
    const journal = await store.journal('sbx_bench')
    for (let index = 0; index < total; index += batch) {
      signal.throwIfAborted()
      await journal.append(Array.from({ length: batch }, (_, next) => smallEvent(index + next)))
    }
    const idle = await turns(new Promise((resolve) => setTimeout(resolve, idleMs)))
    const began = performance.now()
    const trimming = journal.trim({ events: retained })
    const busy = await turns(trimming)
    const seconds = (performance.now() - began) / 1_000
    const { events } = await trimming
    const { counts } = await journal.summary({ types: ['journal.trimmed'] })
    const slices = counts['journal.trimmed'] ?? 0
    // The longest turns are those that contain a slice of the trim; all others only wait.
    const longest = busy.toSorted((a, b) => b - a).slice(0, slices)
    const over = longest.filter((turn) => turn > sliceBarMs).length
    return [
      {
        what: `a turn of the event loop with a slice, while ${events.toLocaleString('en')} events are trimmed in ${seconds.toFixed(1)} s`,
        measured: `${slices} slices: p50 ${ms(percentile(longest, 0.5))}, max ${ms(longest[0] ?? 0)}, ${over} over ${sliceBarMs} ms`,
        against: `idle: max ${ms(idle.reduce((a, b) => Math.max(a, b), 0))}`,
        bar: `≤ ${sliceBarMs} ms, 99 of 100`,
        holds: over <= slices / 100,
      },
    ]
  })
}

function ms(milliseconds: number): string {
  return `${milliseconds.toFixed(1)} ms`
}

/** The length of every event loop turn until a promise is settled. */
async function turns(until: Promise<unknown>): Promise<number[]> {
  const lengths: number[] = []
  let done = false
  const finish = () => {
    done = true
  }
  until.then(finish, finish)
  for (let last = performance.now(); !done; ) {
    await new Promise(setImmediate)
    const now = performance.now()
    lengths.push(now - last)
    last = now
  }
  return lengths
}
