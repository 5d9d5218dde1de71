import { type JournalItem, VitrineError } from '@vitrine/protocol'
import { expect, it } from 'vitest'
import { eventsOf, log, messageOf, openMemory } from '../fixtures/open.ts'

const destroyed = new VitrineError('sandbox_destroyed', 'The sandbox sbx_a was destroyed.')

it('a sealed store refuses writes with the given error, and stays readable until it is closed', async () => {
  const store = await openMemory()
  const journal = await store.journal('sbx_a')
  const pending = journal.append([log('last')])
  await store.seal(destroyed)
  await pending
  await expect(journal.append([log('late')])).rejects.toBe(destroyed)
  await expect(journal.operate('exec', {}, () => undefined)).rejects.toBe(destroyed)
  await expect(store.putBlob(new Uint8Array(1))).rejects.toBe(destroyed)
  await expect(store.seal(destroyed)).rejects.toBe(destroyed)
  expect((await eventsOf(journal)).map(messageOf)).toEqual(['last'])
  expect((await eventsOf(await store.journal('sbx_a'))).map(messageOf)).toEqual(['last'])
  await store.close()
  await expect(journal.read()).rejects.toMatchObject({ code: 'store_closed' })
})

it('a tail of a sealed store yields every event, and then fails with the given error', async () => {
  const store = await openMemory()
  const journal = await store.journal('sbx_a')
  const seen: JournalItem[] = []
  const following = (async () => {
    for await (const event of journal.tail()) seen.push(event)
  })()
  const appending = [1, 2, 3].map((number) => journal.append([log(`m${number}`)]))
  await store.seal(destroyed)
  await Promise.all(appending)
  await expect(following).rejects.toBe(destroyed)
  expect(seen).toEqual(await eventsOf(journal))
  expect(seen).toHaveLength(3)
  await expect(journal.tail().next()).resolves.toMatchObject({ value: { seq: 1 } })
})
