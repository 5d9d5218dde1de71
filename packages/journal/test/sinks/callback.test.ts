import type { JournalItem } from '@vitrine/protocol'
import { describe, expect, test } from 'vitest'
import { callbackSink } from '../../src/sinks/callback.ts'
import { thrownBy } from '../fixtures/until.ts'
import { batch, event, going } from './events.ts'

describe('callbackSink', () => {
  test('waits for each call before the next, in order', async () => {
    const seen: string[] = []
    const sink = callbackSink(async (item) => {
      seen.push(`start ${seqOf(item)}`)
      await new Promise((turn) => setImmediate(turn))
      seen.push(`end ${seqOf(item)}`)
    })
    await sink.write(batch([event(1), event(2)]), going)
    expect(seen).toEqual(['start 1', 'end 1', 'start 2', 'end 2'])
  })

  test('continues with the failed event when the batch is retried', async () => {
    const seen: unknown[] = []
    let broken = true
    const sink = callbackSink((item) => {
      if (broken && seqOf(item) === 2) throw new Error('not now')
      seen.push(seqOf(item))
    })
    const three = batch([event(1), event(2), event(3)])
    await expect(sink.write(three, going)).rejects.toThrow('not now')
    broken = false
    await sink.write(three, going)
    expect(seen).toEqual([1, 2, 3])
  })

  test('starts from the first event of a batch with another key', async () => {
    const seen: unknown[] = []
    let broken = true
    const sink = callbackSink((item) => {
      if (broken && seqOf(item) === 2) throw new Error('not now')
      seen.push(seqOf(item))
    })
    await thrownBy(() => sink.write(batch([event(1), event(2)], 'a'), going))
    broken = false
    await sink.write(batch([event(1), event(2)], 'b'), going)
    expect(seen).toEqual([1, 1, 2])
  })

  test('stops between two events when the signal aborts', async () => {
    const stop = new AbortController()
    const seen: unknown[] = []
    const sink = callbackSink((item) => {
      seen.push(seqOf(item))
      stop.abort(new Error('closing'))
    })
    await expect(sink.write(batch([event(1), event(2)]), { signal: stop.signal })).rejects.toThrow('closing')
    expect(seen).toEqual([1])
  })
})

function seqOf(item: JournalItem): number | undefined {
  return 'seq' in item ? item.seq : undefined
}
