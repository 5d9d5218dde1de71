import type { JournalGap, JournalItem, KnownEvent } from '@vitrine/protocol'
import { expect, expectTypeOf, it } from 'vitest'
import { connect } from '../../src/index.ts'

// The compiler checks the types: vitest runs the file, `tsc` fails on it.
it('a client reads events with the same types as a journal in process', () => {
  const client = connect({ url: 'http://127.0.0.1:1', token: 'none' })
  const journal = client.journal('sbx_1')
  type Item = KnownEvent<'turn.finished'> | JournalGap
  const types = ['turn.finished'] as const

  expectTypeOf(client.events({ types: ['turn.finished'] })).toEqualTypeOf<AsyncIterableIterator<Item>>()
  expectTypeOf(client.events({ types })).toEqualTypeOf<AsyncIterableIterator<Item>>()
  expectTypeOf(client.events()).toEqualTypeOf<AsyncIterableIterator<JournalItem>>()
  expectTypeOf(journal.tail({ types: ['turn.finished'] })).toEqualTypeOf<AsyncIterableIterator<Item>>()

  const read = () => journal.read({ types: ['turn.finished'] })
  expectTypeOf<Awaited<ReturnType<typeof read>>['events']>().toEqualTypeOf<readonly Item[]>()
  expect(journal.id).toBe('sbx_1')
})
