import { writeSync } from 'node:fs'
import { jsonlSink, openStore, type RememberedHead, type Store, sqliteStore } from '@vitrine/journal'
import { isGap } from '@vitrine/protocol'
import { Load } from './load.ts'
import { randomFrom } from './random.ts'
import { encodeReport, longer, type Stretch } from './report.ts'

// A host under load that waits to be killed: it writes as fast as it can and tells what it was shown.

const [path = '', jsonlPath = '', seed = '1'] = process.argv.slice(2)
const journals = ['sbx_a', 'sbx_b', 'host']

const store = await openStore(sqliteStore({ path }))
await store.addSink('jsonl', jsonlSink({ path: jsonlPath, maxBytes: Number.MAX_SAFE_INTEGER }))

const acknowledged: Record<string, RememberedHead> = {}
const seen: Record<string, Stretch> = {}
let due = false

/** A write that returned is in the pipe, and stays there when its writer dies. */
function tell(): void {
  if (due) return
  due = true
  setImmediate(() => {
    due = false
    writeSync(1, encodeReport({ acknowledged, seen }))
  })
}

async function watch(watched: Store): Promise<void> {
  for await (const item of watched.tail({ after: 'now' })) {
    if (isGap(item)) throw new Error('Expected no gap: nothing is trimmed here.')
    seen[item.journal] = longer(seen[item.journal], item.seq, JSON.stringify(item))
    tell()
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
    tell()
  }
}

await Promise.all([
  watch(store),
  ...journals.map((id, index) => write(id, new Load(randomFrom(Number(seed) + index)))),
])
