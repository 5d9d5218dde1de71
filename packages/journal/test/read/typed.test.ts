import type { JournalEvent, JournalGap, JournalItem, KnownEvent } from '@vitrine/protocol'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { log, openMemory } from '../fixtures/open.ts'

// The compiler checks the types: vitest runs the file, `tsc` fails on it.
describe('the events of a journal', () => {
  it('have the types that a page, a tail and a tap are asked for', async () => {
    const store = await openMemory()
    const journal = await store.journal('sbx_a')
    const tapped: unknown[] = []
    journal.tap(
      (event) => {
        expectTypeOf(event).toEqualTypeOf<KnownEvent<'log.message'>>()
        tapped.push(event.data.level)
      },
      { types: ['log.message'] },
    )
    await journal.append([log('hello')])
    expect(tapped).toEqual(['info'])

    type Item = KnownEvent<'log.message'> | JournalGap
    const { events } = await journal.read({ types: ['log.message'] })
    expectTypeOf(events).toEqualTypeOf<readonly Item[]>()
    const everywhere = await store.read({ types: ['log.message'] })
    expectTypeOf(everywhere.events).toEqualTypeOf<readonly Item[]>()
    for (const tail of [journal.tail({ types: ['log.message'] }), store.tail({ types: ['log.message'] })]) {
      expectTypeOf(tail).toEqualTypeOf<AsyncIterableIterator<Item>>()
      const { value } = await tail.next()
      expect(value).toEqual(events[0])
      await tail.return?.()
    }
  })

  it('have any type where none is asked for', async () => {
    const store = await openMemory()
    const journal = await store.journal('sbx_a')
    journal.tap((event) => void expectTypeOf(event).toEqualTypeOf<JournalEvent>())
    const [event] = await journal.append([log('hello')])
    expectTypeOf(event).toEqualTypeOf<JournalEvent | undefined>()
    expectTypeOf((await journal.read()).events).toEqualTypeOf<readonly JournalItem[]>()
    expectTypeOf(journal.tail({ after: 'now' })).toEqualTypeOf<AsyncIterableIterator<JournalItem>>()
    expect(event?.type).toBe('log.message')
  })
})
