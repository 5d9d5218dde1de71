import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, type TestContext, test, vi } from 'vitest'
import { type Journal, type OpenStoreOptions, openStore, type Store, sqliteStore } from '../../src/index.ts'
import { events, everything, messages, note, numbers } from '../fixtures/events.ts'
import { eventually } from '../fixtures/eventually.ts'
import { folder } from '../fixtures/folder.ts'
import { opened } from '../fixtures/opened.ts'
import { smallDisk } from '../fixtures/small-disk.ts'

describe('on a full disk', () => {
  test('appends and new operations are rejected, and running ones can end on the reserve', async (context) => {
    const { disk, store, journal, path } = await host(context)
    const work = await running(journal, 3)
    disk.fill()
    await expect(journal.append([large('never')])).rejects.toMatchObject({
      code: 'store_failing',
      retryable: true,
      message: expect.stringContaining(path),
    })
    expect(store.health).toMatchObject({ status: 'failing', error: { code: 'store_failing' } })
    expect(existsSync(`${path}.reserve`)).toBe(false)
    await expect(journal.operate('exec', {}, () => undefined)).rejects.toMatchObject({
      code: 'store_failing',
    })
    work.finish()
    await work.finished
    expect(await outcomes(journal)).toEqual(['ok', 'ok', 'ok'])
    expect(await messages(journal)).toEqual([])
    disk.free()
    await expectWell(store, journal)
  })

  test('end events are queued when the reserve is used up, and committed once there is space', async (context) => {
    const { disk, store, journal, path } = await host(context)
    const work = await running(journal, 3)
    disk.fill()
    await expect(journal.append([large('never')])).rejects.toMatchObject({ code: 'store_failing' })
    disk.fill()
    work.finish()
    await sleep(400)
    expect(work.ended).toBe(0)
    expect(store.health.status).toBe('failing')
    expect(await outcomes(journal)).toEqual([])
    disk.free()
    await work.finished
    expect(await outcomes(journal)).toEqual(['ok', 'ok', 'ok'])
    await expectWell(store, journal)
    await eventually('the reserve is taken again', () => existsSync(`${path}.reserve`))
    expect(statSync(`${path}.reserve`).size).toBe(1024 * 1024)
  })

  test('readers and tails continue, also in other connections to the file', async (context) => {
    const { disk, store, journal, path } = await host(context)
    await journal.append([note('before')])
    const reader = await opened(path, { readOnly: true })
    const tail = journal.tail()
    expect((await tail.next()).value).toMatchObject({ seq: 1 })
    disk.fill()
    await expect(journal.append([large('never')])).rejects.toMatchObject({ code: 'store_failing' })
    disk.fill()
    expect(await messages(journal)).toEqual(['before'])
    expect(await messages(reader)).toEqual(['before'])
    const next = tail.next()
    disk.free()
    await eventually('the store is well again', () => store.health.status === 'ok')
    await journal.append([note('after')])
    expect((await next).value).toMatchObject({ seq: 2, data: { message: 'after' } })
    await eventually('the reader sees it too', async () => (await messages(reader)).includes('after'))
    await tail.return?.()
  })

  test('the host journal records afterwards that the disk was full', async (context) => {
    const { disk, store, journal } = await host(context)
    disk.fill()
    await expect(journal.append([large('never')])).rejects.toMatchObject({ code: 'store_failing' })
    disk.fill()
    disk.free()
    await eventually('the store is well again', () => store.health.status === 'ok')
    const host_ = await store.journal('host')
    await eventually('limit.reached is in the host journal', async () =>
      events(await everything(host_)).some(({ type }) => type === 'limit.reached'),
    )
    expect(events(await everything(host_))).toEqual([
      expect.objectContaining({
        type: 'limit.reached',
        derived: true,
        data: expect.objectContaining({ limit: 'disk', failedForMs: expect.any(Number) }),
      }),
    ])
  })

  test('end events are queued up to a limit, the rest is rejected, and a later owner ends that work as interrupted', async (context) => {
    const { disk, store, journal, path } = await host(context, { maxPendingEndings: 2 })
    const work = await running(journal, 5)
    disk.fill()
    await expect(journal.append([large('never')])).rejects.toMatchObject({ code: 'store_failing' })
    disk.fill()
    work.finish()
    await eventually('three of five are rejected', () => work.refused.length === 3)
    expect(work.refused).toEqual(['store_failing', 'store_failing', 'store_failing'])
    disk.free()
    await work.finished
    expect(await outcomes(journal)).toEqual(['ok', 'ok'])
    await store.close()
    const next = await opened(path)
    expect((await outcomes(await next.journal('sbx_a'))).toSorted()).toEqual([
      'interrupted',
      'interrupted',
      'interrupted',
      'ok',
      'ok',
    ])
  })

  test('the reserve is for end events: appends are rejected until it fits again', async (context) => {
    const { disk, store, journal, path } = await host(context)
    const work = await running(journal, 3)
    disk.fill()
    await expect(journal.append([large('never')])).rejects.toMatchObject({ code: 'store_failing' })
    work.finish()
    await work.finished
    await sleep(300)
    expect(existsSync(`${path}.reserve`)).toBe(false)
    expect(store.health.status).toBe('failing')
    await expect(journal.append([note('never')])).rejects.toMatchObject({ code: 'store_failing' })
    disk.free()
    await expectWell(store, journal)
  })

  test('a store with queued end events can be closed in time', async (context) => {
    const { disk, store, journal } = await host(context)
    const work = await running(journal, 1)
    disk.fill()
    await expect(journal.append([large('never')])).rejects.toMatchObject({ code: 'store_failing' })
    disk.fill()
    work.finish()
    await sleep(20)
    let closed = false
    const closing = store.close().then(() => {
      closed = true
    })
    await eventually('the store is closed', () => closed)
    await closing
    await work.finished
    expect(work.refused).toEqual(['store_closed'])
  })

  test('opening a store is rejected with its path, and succeeds once there is space', async (context) => {
    const { disk, store, path } = await host(context)
    await store.close()
    disk.fill()
    await expect(openStore(sqliteStore({ path }))).rejects.toMatchObject({
      code: 'store_failing',
      message: expect.stringContaining(`The disk of ${path} is full`),
    })
    disk.free()
    const next = await opened(path)
    await (await next.journal('sbx_a')).append([note('after')])
  })

  test('creating a store is rejected and says that the disk is full', async (context) => {
    const disk = smallDisk()
    if ('unavailable' in disk) return context.skip(disk.unavailable)
    disk.fill()
    await expect(
      openStore(sqliteStore({ path: join(disk.path, 'new', 'journal.db') })),
    ).rejects.toMatchObject({
      code: 'store_failing',
      message: expect.stringMatching(/The disk of .* is full/),
    })
    disk.free()
    const next = await opened(join(disk.path, 'new', 'journal.db'))
    await (await next.journal('sbx_a')).append([note('after')])
  })
})

describe('a database that may not grow', () => {
  test('fails and recovers like a full disk', async () => {
    const path = join(folder(), 'journal.db')
    const exec = vi.spyOn(DatabaseSync.prototype, 'exec')
    onTestFinished(() => exec.mockRestore())
    const store = await opened(path)
    const databases = exec.mock.contexts.filter((one) => one instanceof DatabaseSync)
    const db = databases.find((one) => one.isOpen && one.location() === path)
    const journal = await store.journal('sbx_a')
    const work = await running(journal, 2)
    db!.exec('PRAGMA max_page_count = 1')
    await expect(journal.append([large('never')])).rejects.toMatchObject({
      code: 'store_failing',
      retryable: true,
    })
    expect(store.health.status).toBe('failing')
    db!.exec('PRAGMA max_page_count = 1000000')
    work.finish()
    await work.finished
    expect(await outcomes(journal)).toEqual(['ok', 'ok'])
    await expectWell(store, journal)
  })
})

async function host(context: TestContext, options?: OpenStoreOptions) {
  const disk = smallDisk()
  if ('unavailable' in disk) return context.skip(disk.unavailable)
  const path = join(disk.path, 'journal.db')
  const store = await opened(path, options)
  return { disk, path, store, journal: await store.journal('sbx_a') }
}

function large(message: string) {
  return note(message.padEnd(20_000, '.'))
}

/** Running operations that end when `finish` is called. */
async function running(journal: Journal, count: number) {
  const { promise: mayFinish, resolve: finish } = Promise.withResolvers<void>()
  const refused: unknown[] = []
  let running = 0
  let ended = 0
  const one = async () => {
    try {
      await journal.operate('exec', {}, () => {
        running += 1
        return mayFinish
      })
    } catch (error) {
      refused.push((error as { code?: string }).code)
    }
    ended += 1
  }
  const finished = Promise.all(numbers(1, count).map(one))
  onTestFinished(() => finish())
  await eventually('all operations have started', () => running === count)
  return {
    finish,
    finished,
    refused,
    get ended() {
      return ended
    },
  }
}

async function outcomes(journal: Journal): Promise<unknown[]> {
  return events(await everything(journal))
    .filter(({ type }) => type === 'operation.finished')
    .map(({ data }) => data.outcome)
}

/** Checks that the store recovered by itself and lost nothing. */
async function expectWell(store: Store, journal: Journal): Promise<void> {
  await eventually('the store is well again', () => store.health.status === 'ok')
  await journal.append([note('after')])
  const seqs = events(await everything(journal)).map(({ seq }) => seq)
  expect(seqs).toEqual(numbers(1, seqs.length))
  expect(await journal.verify()).toMatchObject({ ok: true, events: seqs.length })
  expect(await messages(journal)).toEqual(['after'])
}
