import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Journal, openStore, type Store, sqliteStore } from '@vitrine/journal'
import type { BlobRef, ExportedItem } from '@vitrine/protocol'
import { expect, it, onTestFinished } from 'vitest'
import { eventsOf, numbers } from '../src/events/coverage.ts'
import { message, messages, output } from '../src/events/inputs.ts'
import { bytesOf } from '../src/reader/blobs.ts'
import { scale } from '../src/scale.ts'
import { CuttingProxy } from './cutting-proxy.ts'
import { InProcessDaemon } from './daemons.ts'

const id = 'sbx_read'
const { exportedEvents: total, exportCuts: cuts } = scale
const size = total.toLocaleString('en')

it(`fills a mirror with ${size} events over HTTP, with holes and blobs, that verifies against the remote head`, async () => {
  const { daemon, origin } = await filledDaemon()
  const { store, mirror } = await emptyMirror()
  const remote = daemon.client.journal(id)
  for (;;) {
    const items = await remote.export({ after: mirror.head.seq })
    if (items.length === 0) break
    expect(await mirror.import(items, { from: remote })).toEqual({ missingBlobs: [] })
  }
  await expectSame(mirror, store, origin, daemon)
}, 300_000)

it(`fills a mirror with ${size} events by a stream that is cut ${cuts} times, then with new ones`, async () => {
  const { daemon, origin } = await filledDaemon()
  const proxy = await CuttingProxy.to(daemon.url)
  const client = daemon.connect(proxy.url)
  onTestFinished(async () => {
    await client.close()
    await proxy.close()
  })
  const { store, mirror } = await emptyMirror()
  const remote = client.journal(id)
  const tail = remote.tailExport()
  const copyTo = async (seq: number) => {
    const batch: ExportedItem[] = []
    const flush = () => mirror.import(batch.splice(0), { from: remote })
    for (let last = mirror.head.seq; last < seq; ) {
      const { value } = await tail.next()
      batch.push(value)
      last = 'hole' in value ? value.hole.to : value.event.seq
      if (batch.length === 500) await flush()
    }
    await flush()
  }
  const { seq } = origin.head
  let wereCut = 0
  for (const cut of numbers(1, cuts)) {
    await copyTo(Math.floor((seq * cut) / (cuts + 1)))
    wereCut += proxy.cut()
  }
  expect(wereCut).toBeGreaterThan(0)
  await copyTo(seq)
  await origin.append(messages(10))
  await copyTo(seq + 10)
  await tail.return?.()
  await expectSame(mirror, store, origin, daemon)
}, 300_000)

/** A daemon with a journal that has holes and large fields, whose trimmed events are not in memory any more. */
async function filledDaemon(): Promise<{ daemon: InProcessDaemon; origin: Journal }> {
  const daemon = await InProcessDaemon.open({ journals: [id] })
  onTestFinished(() => daemon.close())
  const writer = await daemon.host.store.journal(id)
  for (let at = 0; at < total; at += 500) {
    const outputs = at === 0 ? numbers(1, 100).map((offset) => output('trimmed', offset)) : []
    await writer.append([...messages(498 - outputs.length), ...outputs, message(large(at)), message('next')])
  }
  await writer.trim({ events: total - 50 })
  await daemon.restart()
  return { daemon, origin: await daemon.host.store.journal(id) }
}

function large(at: number): string {
  return `a large text of ${at}. `.repeat(4_000)
}

async function emptyMirror(): Promise<{ store: Store; mirror: Journal }> {
  const folder = await mkdtemp(join(tmpdir(), 'vitrine-mirror-'))
  const store = await openStore(sqliteStore({ path: join(folder, 'journal.db') }))
  onTestFinished(async () => {
    await store.close()
    await rm(folder, { recursive: true, force: true })
  })
  return { store, mirror: await store.journal(id) }
}

async function expectSame(
  mirror: Journal,
  store: Store,
  origin: Journal,
  daemon: InProcessDaemon,
): Promise<void> {
  const remote = daemon.client.journal(id)
  const head = await remote.head()
  expect(head).toEqual(origin.head)
  const verified = await mirror.verify({ head })
  expect(verified).toMatchObject({ ok: true, head })
  expect(verified).toEqual(await remote.verify({ head: mirror.head }))
  expect(verified).not.toMatchObject({ missing: 0 })
  const [event] = eventsOf((await mirror.read({ text: 'sha256:', order: 'desc', limit: 1 })).events)
  const { blob } = (event?.data.message ?? {}) as Partial<BlobRef>
  expect(String(await bytesOf(mirror.blob(String(blob))))).toBe(large(total - 500))
  expect(await store.journals()).toEqual([id])
}
