import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type ChildFixture, child } from '../fixtures/child.ts'
import { events, everything, finished, messages, note, started } from '../fixtures/events.ts'
import { eventually } from '../fixtures/eventually.ts'
import { folder } from '../fixtures/folder.ts'
import { opened } from '../fixtures/opened.ts'
import type { Rival } from '../fixtures/rival.ts'

describe('a lock that another program holds on the file', () => {
  test('is waited for without blocking the event loop', async () => {
    const path = join(folder(), 'journal.db')
    const store = await opened(path)
    const journal = await store.journal('sbx_a')
    await journal.append([note('before')])
    const rival = await locked(path)
    let ticks = 0
    const clock = setInterval(() => {
      ticks += 1
    }, 5)
    onTestFinished(() => clearInterval(clock))
    let done = false
    const append = journal.append([note('after')]).then(() => {
      done = true
    })
    await eventually('the event loop runs on', () => ticks > 100)
    expect(done).toBe(false)
    expect(await messages(journal)).toEqual(['before'])
    await rival.call('exec', 'COMMIT')
    await append
    expect(await messages(journal)).toEqual(['before', 'after'])
    expect(store.health).toEqual({ status: 'ok' })
  })

  test('is waited for when a store is opened', async () => {
    const path = join(folder(), 'journal.db')
    const first = await opened(path)
    await first.close()
    const rival = await locked(path)
    const opening = opened(path)
    await sleep(300)
    await rival.call('exec', 'COMMIT')
    await (await (await opening).journal('sbx_a')).append([note('one')])
  })

  test('makes the store fail when it is not released: appends are rejected, end events are queued, and it recovers', async () => {
    const path = join(folder(), 'journal.db')
    const store = await opened(path)
    const journal = await store.journal('sbx_a')
    await journal.append([started('op_1')])
    const rival = await locked(path)
    const refused = journal.append([note('never')])
    await expect(refused).rejects.toMatchObject({ code: 'store_busy', retryable: true })
    expect(store.health).toMatchObject({ status: 'failing', error: { code: 'store_busy' } })
    const ending = journal.append([finished('op_1')])
    await expect(journal.append([note('never')])).rejects.toMatchObject({ code: 'store_busy' })
    expect(events(await everything(journal))).toHaveLength(1)
    await rival.call('exec', 'COMMIT')
    expect((await ending)[0]).toMatchObject({ seq: 2, type: 'operation.finished' })
    await eventually('the store is well again', () => store.health.status === 'ok')
    await journal.append([note('after')])
    expect(await journal.verify()).toMatchObject({ ok: true, events: 3 })
  })

  test('rejects waiting appends as fenced when the store is taken over meanwhile', async () => {
    const path = join(folder(), 'journal.db')
    const store = await opened(path)
    const journal = await store.journal('sbx_a')
    await journal.append([note('before')])
    const rival = await locked(path)
    const refusal = journal.append([note('never')]).catch((error: unknown) => error)
    await rival.call('exec', "UPDATE meta SET value = '7' WHERE key = 'epoch'; COMMIT; BEGIN IMMEDIATE")
    expect(await refusal).toMatchObject({ code: 'store_fenced' })
    await eventually('the store is lost', () => store.lost.aborted)
  })

  test('does not block readers', async () => {
    const path = join(folder(), 'journal.db')
    const store = await opened(path)
    const journal = await store.journal('sbx_a')
    await journal.append([note('before')])
    await locked(path)
    const reader = await opened(path, { readOnly: true })
    expect(await messages(reader)).toEqual(['before'])
    expect(await messages(store)).toEqual(['before'])
  })
})

async function locked(path: string): Promise<ChildFixture<Rival>> {
  const rival = await child<Rival>('./rival.ts')
  await rival.call('open', path)
  await rival.call('exec', 'BEGIN IMMEDIATE')
  return rival
}
