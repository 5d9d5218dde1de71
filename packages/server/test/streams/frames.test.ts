import type { Delivery, Tail } from '@vitrine/journal'
import { expect, it } from 'vitest'
import { eventFrames } from '../../src/streams/frames.ts'
import { openDaemon } from '../daemon.ts'
import { append, journalOf } from './reading.ts'

async function firstBatch(deliveries: Tail<Delivery>): Promise<readonly Delivery[]> {
  const batch = await deliveries.batch()
  await deliveries.return()
  return batch ?? []
}

it('a chunk has every event under its id, and changing it changes no other reader’s', async () => {
  await using daemon = await openDaemon()
  const journal = await journalOf(daemon)
  await append(journal, 0, 3)
  for (const page of [1, 3]) {
    for (const source of [journal, daemon.host.store]) {
      const batch = await firstBatch(source.deliveries({ page, types: ['log.message'] }))
      const expected = batch.map(({ cursor, json }) => `id: ${cursor}\ndata: ${json}\n\n`).join('')
      expect(expected).not.toBe('')
      const chunk = eventFrames(batch)
      expect(String(chunk)).toBe(expected)
      chunk.fill(0)
      const others = await firstBatch(source.deliveries({ page, types: ['log.message'] }))
      expect(String(eventFrames(others))).toBe(expected)
    }
  }
})
