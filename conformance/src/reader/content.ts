import type { EventInput } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { eventsOf } from '../events/coverage.ts'
import { hostilePayloads } from '../events/hostile-payloads.ts'
import { fileChanged, message, messages } from '../events/inputs.ts'
import { take } from '../waiting/take.ts'
import { type MakeWriterAndReader, newReaderFixture } from './fixture.ts'

export function contentCases(make: MakeWriterAndReader): void {
  describe('content', () => {
    it.each(hostilePayloads)('returns %s unchanged, by tail and by page', async (_name, payload) => {
      const { writer, reader } = await newReaderFixture(make)
      const one = await reader()
      const event: EventInput = { type: 'foreign.event', data: { type: 'nasty', data: payload } }
      const tail = one.tail()
      const appended = await writer.append([event, message('the next event')])
      const tailed = await take(tail, 2)
      expect(tailed).toStrictEqual(appended)
      expect(eventsOf(tailed)[0]?.data.data).toStrictEqual(payload)
      expect((await one.read()).events).toStrictEqual(appended)
      expect({}).not.toHaveProperty('polluted')
    })

    it('counts the same in a summary as the writer does', async () => {
      const { writer, reader } = await newReaderFixture(make)
      await writer.append([...messages(12), fileChanged('/a')])
      const one = await reader()
      expect(one.id).toBe(writer.id)
      expect(await one.summary({ buckets: 5 })).toEqual(await writer.summary({ buckets: 5 }))
      expect(await one.summary({ types: ['file.*'] })).toMatchObject({
        total: 1,
        counts: { 'file.changed': 1 },
      })
    })

    it('rejects invalid limits', async () => {
      const { reader } = await newReaderFixture(make)
      const one = await reader()
      for (const limit of [0, -1, 1.5, 10_001]) {
        await expect(one.read({ limit })).rejects.toMatchObject({ code: 'argument_invalid' })
      }
    })
  })
}
