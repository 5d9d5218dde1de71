import type { StoreDriver } from '@vitrine/journal'
import { describe, expect, it } from 'vitest'
import { forwardingConnection } from '../drivers/forwarding-connection.ts'
import { seqsOf } from '../events/coverage.ts'
import { messages } from '../events/inputs.ts'
import { type MakeStore, newStoreFixture } from './fixture.ts'

export function cursorCases(makeStore: MakeStore): void {
  describe('a cursor', () => {
    it('continues where it was taken, even after reopening', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const journal = await store.journal('a')
      await journal.append(messages(10))
      const { cursor } = await journal.read({ limit: 4 })
      const again = await (await fixture.reopen(store)).journal('a')
      expect(seqsOf((await again.read({ after: cursor })).events)).toEqual([5, 6, 7, 8, 9, 10])
      expect(seqsOf((await again.read({ before: cursor })).events)).toEqual([1, 2, 3])
    })

    it('reads all later events when taken from an empty journal', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const { cursor } = await (await store.journal('a')).read()
      const again = await (await fixture.reopen(store)).journal('a')
      await again.append(messages(2))
      expect(seqsOf((await again.read({ after: cursor })).events)).toEqual([1, 2])
    })

    it('is rejected as foreign for another journal', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const [a, b] = [await store.journal('a'), await store.journal('b')]
      await a.append(messages(3))
      await b.append(messages(3))
      const { cursor } = await a.read({ limit: 2 })
      await expect(b.read({ after: cursor })).rejects.toMatchObject({ code: 'cursor_foreign' })
      await expect(b.read({ before: cursor })).rejects.toMatchObject({ code: 'cursor_foreign' })
      await expect(b.tail({ after: cursor }).next()).rejects.toMatchObject({ code: 'cursor_foreign' })
      await expect(store.read({ after: cursor })).rejects.toMatchObject({ code: 'cursor_foreign' })
      await expect(store.tail({ after: cursor }).next()).rejects.toMatchObject({ code: 'cursor_foreign' })
    })

    it('is rejected as foreign for another store, even for a journal of the same name', async () => {
      const [one, other] = [await newStoreFixture(makeStore), await newStoreFixture(makeStore)]
      const [here, there] = [await one.open(), await other.open()]
      const [journalHere, journalThere] = [await here.journal('a'), await there.journal('a')]
      await journalHere.append(messages(3))
      await journalThere.append(messages(3))
      const ofJournal = (await journalHere.read({ limit: 2 })).cursor
      const ofStore = (await here.read({ limit: 2 })).cursor
      await expect(journalThere.read({ after: ofJournal })).rejects.toMatchObject({ code: 'cursor_foreign' })
      await expect(there.read({ after: ofStore })).rejects.toMatchObject({ code: 'cursor_foreign' })
      await expect(journalHere.read({ after: ofStore })).rejects.toMatchObject({ code: 'cursor_foreign' })
    })

    it.each([
      ['nothing', ''],
      ['a word', 'abc'],
      ['a number', '42'],
      ['something with spaces', 'a b'],
      ['something very long', 'A'.repeat(10_000)],
      ['base64 of something else', Buffer.from('j.x').toString('base64url')],
      ['emoji', '🧪'],
    ])('is rejected as invalid when it is %s', async (_name, cursor) => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const journal = await store.journal('a')
      await journal.append(messages(2))
      await expect(journal.read({ after: cursor })).rejects.toMatchObject({ code: 'cursor_invalid' })
      await expect(journal.read({ before: cursor })).rejects.toMatchObject({ code: 'cursor_invalid' })
      await expect(journal.tail({ after: cursor }).next()).rejects.toMatchObject({ code: 'cursor_invalid' })
      await expect(store.read({ after: cursor })).rejects.toMatchObject({ code: 'cursor_invalid' })
    })

    it('is rejected as invalid when it is not a string', async () => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open()).journal('a')
      for (const cursor of [7, null, {}, ['a']]) {
        const options = JSON.parse(JSON.stringify({ after: cursor }))
        await expect(journal.read(options)).rejects.toMatchObject({ code: 'cursor_invalid' })
      }
    })

    it('is rejected or still of this journal with one character changed', async () => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open()).journal('a')
      await journal.append(messages(3))
      const { cursor } = await journal.read({ limit: 2 })
      for (let index = 0; index < cursor.length; index += 1) {
        const letter = cursor[index] === 'A' ? 'B' : 'A'
        const changed = cursor.slice(0, index) + letter + cursor.slice(index + 1)
        const outcome = await journal.read({ after: changed }).then(
          () => 'read',
          (error: { code?: unknown }) => error.code,
        )
        expect(['read', 'cursor_invalid', 'cursor_foreign', 'cursor_ahead']).toContain(outcome)
      }
    })

    it('is rejected as ahead by a store that was restored from an older copy', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const journal = await store.journal('a')
      await journal.append(messages(3))
      const older = await olderCopy(fixture.driver())
      await journal.append(messages(3))
      const [ofJournal, ofStore] = [(await journal.read()).cursor, (await store.read()).cursor]
      const restored = await fixture.readOnly({}, older)
      const restoredJournal = await restored.journal('a')
      await expect(restoredJournal.read({ after: ofJournal })).rejects.toMatchObject({ code: 'cursor_ahead' })
      await expect(restoredJournal.tail({ after: ofJournal }).next()).rejects.toMatchObject({
        code: 'cursor_ahead',
      })
      await expect(restored.read({ after: ofStore })).rejects.toMatchObject({ code: 'cursor_ahead' })
    })
  })
}

/** A driver with a snapshot of the store as it is now. */
async function olderCopy(driver: StoreDriver): Promise<StoreDriver> {
  const now = await driver.open({ takeover: false, readOnly: true })
  const [head, lastPosition] = [await now.head('a'), await now.lastPosition()]
  await now.close()
  return {
    kind: driver.kind,
    open: async (options) =>
      forwardingConnection(await driver.open(options), undefined, {
        head: async () => head,
        lastPosition: async () => lastPosition,
      }),
  }
}
