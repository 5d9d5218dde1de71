import type { EncodedEvent, Tail } from '@vitrine/journal'
import { expect, it } from 'vitest'
import { FrameJoiner } from '../../src/streams/frames.ts'
import { openDaemon } from '../daemon.ts'
import { append, journalOf } from './reading.ts'

async function firstBatch(tail: Tail<EncodedEvent>): Promise<readonly EncodedEvent[]> {
  const batch = await tail.batch()
  await tail.return()
  return batch ?? []
}

it('a chunk has every event with its id, and changing it changes no other reader’s', async () => {
  await using daemon = await openDaemon()
  const journal = await journalOf(daemon)
  await append(journal, 0, 3)
  for (const page of [1, 3]) {
    for (const source of [journal, daemon.host.store]) {
      const batch = await firstBatch(source.tailEncoded({ page, types: ['log.message'] }))
      const expected = batch.map(({ cursor, json }) => `id: ${cursor}\ndata: ${json}\n\n`).join('')
      expect(expected).not.toBe('')
      const chunk = new FrameJoiner().join(batch)
      expect(String(chunk)).toBe(expected)
      chunk.fill(0)
      const others = await firstBatch(source.tailEncoded({ page, types: ['log.message'] }))
      expect(String(new FrameJoiner().join(others))).toBe(expected)
    }
  }
})

it('a stream reuses the memory of its chunks, but holds no large ones', async () => {
  await using daemon = await openDaemon()
  const journal = await journalOf(daemon)
  await append(journal, 0, 2)
  const [first, second] = await firstBatch(journal.tailEncoded({ types: ['log.message'] }))
  const frames = new FrameJoiner()
  const chunk = frames.join([first!])
  const text = String(chunk)
  expect(frames.join([second!]).buffer).toBe(chunk.buffer)
  const many = frames.join(Array.from({ length: 2_000 }, () => first!))
  expect(many.byteLength).toBeGreaterThan(256 * 1024)
  expect(String(many)).toBe(text.repeat(2_000))
  expect(frames.join([first!]).buffer).toBe(chunk.buffer)
})
