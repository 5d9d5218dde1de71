import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { type Journal, openStore, sqliteStore } from '@vitrine/journal'
import { type EventInput, isGap } from '@vitrine/protocol'
import { measurement } from '../measurement.ts'
import { median, type Row, rate } from '../report.ts'
import { inScratch } from '../scratch.ts'
import { smallEvent } from './events.ts'

const inFlight = 1_000
const bars = { one: 0.4, ten: 0.2 }

interface Sizes {
  readonly total: number
  readonly rounds: number
}

/** Append and delivery to live readers, compared with a bare batch insert of the same rows into the same table. */
export const throughput = measurement<Sizes>({
  name: 'throughput',
  what: '100,000 events of 100 bytes to one and to ten live readers',
  against: 'a bare batch insert of the same rows',
  bars: [`≥ ${bars.one} ×`, `≥ ${bars.ten} ×`],
  sizes: { full: { total: 100_000, rounds: 5 }, tiny: { total: 2_000, rounds: 1 } },
  run,
})

async function run({ total, rounds }: Sizes, signal: AbortSignal): Promise<Row[]> {
  // Created before the measurement, like the rows of the bare insert.
  const events = Array.from({ length: total }, (_, index) => smallEvent(index))
  const sample = await inScratch((folder) => sampleOf(folder, events))
  const ratios: { one: number[]; ten: number[]; bare: number[]; rateOne: number[]; rateTen: number[] } = {
    one: [],
    ten: [],
    bare: [],
    rateOne: [],
    rateTen: [],
  }
  for (let round = 0; round < rounds; round += 1) {
    signal.throwIfAborted()
    const bare = await inScratch((folder) => bareInsert(folder, sample))
    const one = await inScratch((folder) => appendAndDeliver(folder, events, 1, signal))
    const ten = await inScratch((folder) => appendAndDeliver(folder, events, 10, signal))
    ratios.bare.push(bare)
    ratios.rateOne.push(one)
    ratios.rateTen.push(ten)
    ratios.one.push(one / bare)
    ratios.ten.push(ten / bare)
  }
  const against = `${rate(median(ratios.bare))} bare insert`
  const what = `${total.toLocaleString('en')} events of 100 bytes`
  return [
    {
      ...row(median(ratios.rateOne), median(ratios.one), bars.one),
      what: `${what} to one live reader`,
      against,
    },
    {
      ...row(median(ratios.rateTen), median(ratios.ten), bars.ten),
      what: `${what} to ten live readers`,
      against,
    },
  ]
}

function row(perSecond: number, ratio: number, bar: number): Pick<Row, 'measured' | 'bar' | 'holds'> {
  return {
    measured: `${rate(perSecond)}, ${ratio.toFixed(2)} ×; 0 lost, repeated or out of order`,
    bar: `≥ ${bar} ×`,
    holds: ratio >= bar,
  }
}

async function appendAndDeliver(
  folder: string,
  events: readonly EventInput[],
  readers: number,
  signal: AbortSignal,
): Promise<number> {
  const total = events.length
  await using store = await openStore(sqliteStore({ path: join(folder, 'journal.db') }))
  const journal = await store.journal('sbx_bench')
  const reading = Array.from({ length: readers }, () => readAll(journal, total, signal))
  const began = performance.now()
  for (let index = 0; index < total; ) {
    let last: Promise<unknown> | undefined
    for (let next = 0; next < inFlight; next += 1, index += 1) last = journal.append([events[index]!])
    await last
  }
  await Promise.all(reading)
  return (total / (performance.now() - began)) * 1_000
}

async function readAll(journal: Journal, total: number, signal: AbortSignal): Promise<void> {
  let expected = 1
  for await (const item of journal.tail({ signal })) {
    if (isGap(item) || item.seq !== expected)
      throw new Error(`expected seq ${expected}, got ${JSON.stringify(item)}`)
    if (expected === total) return
    expected += 1
  }
}

/** The store's table schema, and the rows that it wrote for these events. */
interface Sample {
  readonly schema: readonly string[]
  readonly rows: readonly SQLInputValue[][]
}

async function sampleOf(folder: string, events: readonly EventInput[]): Promise<Sample> {
  const path = join(folder, 'sample.db')
  {
    await using store = await openStore(sqliteStore({ path }))
    const journal = await store.journal('sbx_bench')
    for (let index = 0; index < events.length; index += inFlight)
      await journal.append(events.slice(index, index + inFlight))
  }
  const db = new DatabaseSync(path, { readOnly: true })
  const schema = db.prepare("SELECT sql FROM sqlite_schema WHERE tbl_name = 'events'").all()
  const rows = db.prepare('SELECT * FROM events ORDER BY position').all()
  db.close()
  return { schema: schema.map(({ sql }) => String(sql)), rows: rows.map((row) => Object.values(row)) }
}

async function bareInsert(folder: string, { schema, rows }: Sample): Promise<number> {
  const db = new DatabaseSync(join(folder, 'bare.db'))
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; ${schema.join('; ')}`)
  const insert = db.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)')
  const began = performance.now()
  for (let start = 0; start < rows.length; start += inFlight) {
    db.exec('BEGIN IMMEDIATE')
    for (let index = start; index < start + inFlight; index += 1) insert.run(...rows[index]!)
    db.exec('COMMIT')
  }
  const perSecond = (rows.length / (performance.now() - began)) * 1_000
  db.close()
  return perSecond
}
