import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { openStore, sqliteStore } from '@vitrine/journal'
import { isGap } from '@vitrine/protocol'
import { measurement } from '../measurement.ts'
import { mebibytes, type Row, rate } from '../report.ts'
import { inScratch } from '../scratch.ts'
import { settledRss } from '../settled-rss.ts'
import { smallEvent } from './events.ts'

const batch = 1_000

interface Sizes {
  readonly total: number
  readonly warmUp: number
}

/** A replay of a long journal, and a reader that stops reading while a million events are appended. */
export const replay = measurement<Sizes>({
  name: 'replay',
  what: 'replay of 1,000,000 events, its memory, and that of a reader that stalls meanwhile',
  bars: ['≥ 300,000/s', '< 64 MiB'],
  sizes: { full: { total: 1_000_000, warmUp: 100_000 }, tiny: { total: 5_000, warmUp: 1_000 } },
  run,
})

function run({ total, warmUp }: Sizes, signal: AbortSignal): Promise<Row[]> {
  limitHeap()
  return inScratch(async (folder) => {
    const path = join(folder, 'journal.db')
    const stalled = await stalledReader(path, { total, warmUp }, signal)
    await using store = await openStore(sqliteStore({ path }))
    const journal = await store.journal('sbx_bench')
    let expected = 1
    let rssAtWarmUp = 0
    let began = performance.now()
    for await (const item of journal.tail({ signal })) {
      if (isGap(item) || item.seq !== expected) throw new Error(`expected seq ${expected}`)
      if (expected === warmUp) {
        const paused = performance.now()
        rssAtWarmUp = await settledRss()
        began += performance.now() - paused
      }
      if (expected === total) break
      expected += 1
    }
    signal.throwIfAborted()
    const perSecond = (total / (performance.now() - began)) * 1_000
    const growth = (await settledRss()) - rssAtWarmUp
    return [
      {
        what: `replay of ${count(total)} events from SQLite`,
        measured: rate(perSecond),
        against: '',
        bar: '≥ 300,000/s',
        holds: perSecond >= 300_000,
      },
      memoryRow(`memory growth of that replay after the first ${count(warmUp)}`, growth),
      memoryRow(
        `memory growth while a stalled reader misses ${count(total)} events; then it has them all`,
        stalled,
      ),
    ]
  })
}

/** As a daemon does (`packages/cli/src/serve/run.ts`), so that the memory of what users run is measured. */
function limitHeap(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--heap-growing-percent=20')
}

function count(events: number): string {
  return events.toLocaleString('en')
}

function memoryRow(what: string, growth: number): Row {
  return { what, measured: mebibytes(growth), against: '', bar: '< 64 MiB', holds: growth < 64 * 1024 * 1024 }
}

/** Appends all events next to a stalled reader. Growth counts from the end of the warm-up, to exclude the writer's own. */
async function stalledReader(path: string, { total, warmUp }: Sizes, signal: AbortSignal): Promise<number> {
  await using store = await openStore(sqliteStore({ path }))
  const journal = await store.journal('sbx_bench')
  const tail = journal.tail({ signal })
  const first = tail.next()
  let rssAtWarmUp = 0
  for (let index = 0; index < total; index += batch) {
    signal.throwIfAborted()
    await journal.append(Array.from({ length: batch }, (_, next) => smallEvent(index + next)))
    if (index === warmUp) rssAtWarmUp = await settledRss()
  }
  const growth = (await settledRss()) - rssAtWarmUp
  let expected = 1
  for (let step = await first; !step.done; step = await tail.next()) {
    if (isGap(step.value) || step.value.seq !== expected) throw new Error(`expected seq ${expected}`)
    if (expected === total) break
    expected += 1
  }
  await tail.return?.()
  return growth
}
