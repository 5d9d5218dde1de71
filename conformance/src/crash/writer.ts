import { writeSync } from 'node:fs'
import { jsonlSink, openStore, type RememberedHead, type Store, sqliteStore } from '@vitrine/journal'
import { isGap } from '@vitrine/protocol'
import { Load } from './load.ts'
import { randomFrom } from './random.ts'
import { type EventRange, encodeReport, extendRange } from './report.ts'

// A host under load: it writes as fast as it can and reports what it observed, until it is killed.

const [path = '', jsonlPath = '', seed = '1'] = process.argv.slice(2)
const journals = ['sbx_a', 'sbx_b', 'host']

const store = await openStore(sqliteStore({ path }))
await store.addSink('jsonl', jsonlSink({ path: jsonlPath, maxBytes: Number.MAX_SAFE_INTEGER }))

const acknowledged: Record<string, RememberedHead> = {}
const seen: Record<string, EventRange> = {}
let scheduled = false

/** Uses a synchronous write: data in the pipe survives the kill of this process. */
function scheduleReport(): void {
  if (scheduled) return
  scheduled = true
  setImmediate(() => {
    scheduled = false
    writeSync(1, encodeReport({ acknowledged, seen }))
  })
}

async function watch(watched: Store): Promise<void> {
  for await (const item of watched.tail({ after: 'now' })) {
    if (isGap(item)) throw new Error('Expected no gap: nothing is trimmed here.')
    seen[item.journal] = extendRange(seen[item.journal], item.seq, JSON.stringify(item))
    scheduleReport()
  }
}

async function write(id: string, load: Load): Promise<void> {
  const journal = await store.journal(id)
  for (;;) {
    await Promise.all([
      journal.append(load.batch()),
      journal.append(load.batch()),
      journal.append(load.batch()),
    ])
    acknowledged[id] = journal.head
    scheduleReport()
  }
}

await Promise.all([
  watch(store),
  ...journals.map((id, index) => write(id, new Load(randomFrom(Number(seed) + index)))),
])
