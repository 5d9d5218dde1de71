import { join } from 'node:path'
import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { jsonlSink, openStore, sqliteStore } from '@vitrine/journal'
import { percentile, type Row } from '../report.ts'
import { inScratch } from '../scratch.ts'

const calls = 10_000
const warmUp = 2_000

/** What an operation costs beside the call itself: two commits, a span, a JSONL sink. */
export function operation(): Promise<Row[]> {
  return inScratch(async (folder) => {
    const exporter = new InMemorySpanExporter()
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
    trace.setGlobalTracerProvider(
      new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
    )
    await using store = await openStore(sqliteStore({ path: join(folder, 'journal.db') }))
    await store.addSink('audit', jsonlSink({ path: join(folder, 'audit.jsonl') }))
    const journal = await store.journal('sbx_bench')
    const bare: number[] = []
    const instrumented: number[] = []
    for (let call = 0; call < calls; call += 1) {
      let began = performance.now()
      await work()
      bare.push(performance.now() - began)
      began = performance.now()
      await journal.operate('exec', { argv: ['true'] }, work)
      instrumented.push(performance.now() - began)
      if (call % 500 === 0) exporter.reset()
    }
    await journal.flush()
    trace.disable()
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
