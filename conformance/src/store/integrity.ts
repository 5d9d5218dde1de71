import type { Verification } from '@vitrine/journal'
import { describe, expect, it } from 'vitest'
import { interceptedDriver } from '../drivers/intercepted-driver.ts'
import { numbers } from '../events/coverage.ts'
import { messages } from '../events/inputs.ts'
import { background } from '../waiting/background.ts'
import { type MakeStore, newStoreFixture } from './fixture.ts'

export function integrityCases(makeStore: MakeStore): void {
  describe('verify', () => {
    it('checks the chain up to the head, also after reopening', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const journal = await store.journal('a')
      for (const _round of numbers(1, 3)) await journal.append(messages(700))
      const { head } = journal
      expect(head.seq).toBe(2_100)
      expect(await journal.verify({ head })).toEqual({ ok: true, head, events: 2_100, missing: 0 })
      const again = await (await fixture.reopen(store)).journal('a')
      expect(again.head).toEqual(head)
      expect(await again.verify({ head })).toEqual({ ok: true, head, events: 2_100, missing: 0 })
      const reader = await (await fixture.readOnly()).journal('a')
      expect(await reader.verify({ head })).toEqual({ ok: true, head, events: 2_100, missing: 0 })
    })

    it('succeeds against every head that was ever remembered', async () => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open()).journal('a')
      const heads = []
      for (const count of [1, 5, 2]) {
        await journal.append(messages(count))
        heads.push(journal.head)
      }
      for (const head of heads) expect(await journal.verify({ head })).toMatchObject({ ok: true })
    })

    it('reports the seq where a remembered head differs', async () => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open()).journal('a')
      await journal.append(messages(5))
      const { hash } = journal.head
      expect(await journal.verify({ head: { seq: 3, hash } })).toMatchObject({ ok: false, seq: 3 })
      expect(await journal.verify({ head: { seq: 9, hash } })).toMatchObject({ ok: false, seq: 6 })
    })

    it('succeeds over holes, against heads remembered before the trim', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const journal = await store.journal('a')
      const heads = []
      for (const _round of numbers(1, 10)) {
        await journal.append(messages(10))
        heads.push(journal.head)
      }
      await journal.trim({ events: 30 })
      await journal.append(messages(5))
      heads.push(journal.head)
      const again = await (await fixture.reopen(store)).journal('a')
      for (const head of heads) expect(await again.verify({ head })).toMatchObject({ ok: true })
    })

    it('succeeds while events are appended', async () => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open()).journal('a')
      await journal.append(messages(3_000))
      let writing = true
      const write = async () => {
        while (writing) await journal.append(messages(5))
      }
      const writer = background(write())
      const results: Verification[] = []
      for (const _round of numbers(1, 5)) results.push(await journal.verify())
      writing = false
      await writer
      expect(results.filter(({ ok }) => !ok)).toEqual([])
    })

    it('succeeds in a reader while the owner appends and trims', async () => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open()).journal('a')
      await journal.append(messages(50))
      const driver = interceptedDriver(fixture.driver())
      const reader = await (await fixture.readOnly({}, driver)).journal('a')
      driver.before('scan', async () => void (await journal.append(messages(5))))
      expect(await reader.verify()).toMatchObject({ ok: true })
      driver.before('scan', async () => void (await journal.trim({ events: 20 })))
      expect(await reader.verify()).toMatchObject({ ok: true })
      driver.before('holes', async () => void (await journal.trim({ events: 10 })))
      expect(await reader.verify()).toMatchObject({ ok: true })
      expect(driver.unused).toEqual([])
    })

    it('stops when its signal is aborted', async () => {
      const fixture = await newStoreFixture(makeStore)
      const journal = await (await fixture.open()).journal('a')
      await journal.append(messages(5))
      await expect(journal.verify({ signal: AbortSignal.abort() })).rejects.toMatchObject({
        name: 'AbortError',
      })
    })
  })
}
