/** Two people work in one sandbox. An audit file and a collector of spans record who did what, and no secret. */
import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { commandPolicy, type JournalEvent, jsonlSink, openHost, otlpSink } from 'vitrine'
import { auditTable } from './audit-table.ts'
import { Collector } from './collector.ts'
import { spanExporter } from './span-exporter.ts'
import { spanTree } from './span-tree.ts'

const [data = 'audit-data'] = process.argv.slice(2)
await mkdir(data, { recursive: true })
const auditFile = join(data, 'audit.jsonl')

await using collector = new Collector(join(data, 'collector.jsonl'))
const url = await collector.listen()

// A host has no settings for spans: its operations are spans of the tracer that the program registers.
const provider = new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(spanExporter(url))] })
trace.setGlobalTracerProvider(provider)
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())

/** A request to the program, as a span around everything that it does. */
function request<T>(name: string, work: () => Promise<T>): Promise<T> {
  return trace.getTracer('bakery').startActiveSpan(name, (span) => work().finally(() => span.end()))
}

const types = ['sandbox.*', 'session.*', 'turn.*', 'permission.*', 'operation.*']
const host = await openHost({
  data,
  sinks: [
    { name: 'audit', types, sink: jsonlSink({ path: auditFile }) },
    { name: 'collector', types, sink: otlpSink({ url, resource: { 'service.name': 'bakery' } }) },
  ],
})
const key = 'correct-horse-battery'
const ada = { actor: 'ada@example.com' }
const ben = { actor: 'ben@example.com' }

const { id } = await request('POST /sandboxes', async () => {
  const policy = commandPolicy({ deny: ['rm -rf *'], otherwise: 'allow' })
  return host.create({ policy, secrets: { DEPLOY_KEY: key } }, ada)
})

await request('POST /deploy', async () => {
  const sandbox = (await host.attach(id)).as({ ...ada, run: 'deploy-17' })
  await sandbox.files.write('price.txt', '3 euros')
  const { stdout } = await sandbox.exec('echo "key: $DEPLOY_KEY"')
  console.log(`Ada's command printed the key: ${stdout.includes(key)}`)
  const denied = await sandbox.exec('rm -rf /srv/shop').catch((error: Error) => error)
  if (denied instanceof Error) console.log(denied.message)
})

await request('POST /chat', async () => {
  const sandbox = (await host.attach(id)).as(ben)
  const session = await sandbox.openSession({ agent: 'demo', env: { VITRINE_DEMO_PACE: '0' } })
  session.onEvent(async ({ type }) => {
    if (type !== 'permission.requested') return
    for (const { id: permission, toolCall } of session.permissions)
      await session.respondPermission(permission, toolCall.kind === 'edit' ? 'allow_once' : 'reject_once')
  })
  await session.prompt('/write menu.md bread and cake\n/run rm price.txt')
  await session.close()
})

await request('DELETE /sandboxes', () => host.destroy(id, ada))

const journal = await host.store.journal(id)
const { head } = journal // a program stores it where the writer of the journal has no access
const verified = await journal.verify({ head })
await host.close() // both sinks have every event
await provider.shutdown() // the collector has every span

const audited = readFileSync(auditFile, 'utf8').trimEnd().split('\n')
const events = audited.map((line) => JSON.parse(line) as JournalEvent)
console.log(`\nWho did what, from ${auditFile}:`)
for (const line of auditTable(events.filter((event) => event.journal === id))) console.log(line)

console.log('\nSpans in the collector:')
for (const line of spanTree(collector.spans, collector.logs)) console.log(line)

console.log(`\nHash chain of ${head.seq} events verified: ${verified.ok}`)
