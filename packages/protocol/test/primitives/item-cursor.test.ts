import { describe, expect, it } from 'vitest'
import type { JournalEvent, JournalGap, JournalItem } from '../../src/index.ts'
import { itemCursor, itemSeq, parseItemCursor } from '../../src/primitives/index.ts'

const event: JournalEvent = {
  journal: 'sbx_a.b-c',
  seq: 1_234_567,
  time: '2026-01-02T03:04:05.678Z',
  type: 'log.message',
  source: 'host',
  data: { level: 'info', message: '' },
}
const gap: JournalGap = {
  journal: 'sbx_a.b-c',
  type: 'journal.gap',
  data: { from: 3, to: 9, reason: 'events', types: ['*'], cursor: 'x' },
}

describe('the cursor of an item', () => {
  it('has the position of an event and of the end of a gap', () => {
    expect(parseItemCursor(itemCursor('sbx_a.b-c', event))).toEqual({
      journal: 'sbx_a.b-c',
      seq: 1_234_567,
      time: Date.parse(event.time),
    })
    expect(parseItemCursor(itemCursor('sbx_a.b-c', gap))).toEqual({ journal: 'sbx_a.b-c', seq: 9 })
  })

  it('can be sent in a URL and a header unchanged', () => {
    const longest = { ...event, journal: 'x'.repeat(128), seq: Number.MAX_SAFE_INTEGER }
    for (const cursor of [itemCursor(longest.journal, longest), itemCursor(gap.journal, gap)]) {
      expect(cursor).toMatch(/^[\w.-]{1,200}$/)
      expect(encodeURIComponent(cursor)).toBe(cursor)
      expect(parseItemCursor(cursor)).toBeDefined()
    }
  })

  it('is not parsed with any one character changed, left out or added', () => {
    const letters = 'abcdefghijklmnopqrstuvwxyz0123456789ABZ_.-'
    for (const item of [event, gap]) {
      const cursor = itemCursor(item.journal, item)
      const taken: string[] = []
      for (let at = 0; at <= cursor.length; at += 1)
        for (const letter of ['', ...letters])
          for (const end of [at, at + 1]) {
            const changed = cursor.slice(0, at) + letter + cursor.slice(end)
            if (changed !== cursor && parseItemCursor(changed) !== undefined) taken.push(changed)
          }
      expect(taken).toEqual([])
    }
  })

  it.each(['', 'i', 'i....', 'i.a.b.c.d', 'x'.repeat(100_000), `i.0.1.1.${'x'.repeat(129)}`])(
    'is not parsed from another text (%#)',
    (text) => {
      expect(parseItemCursor(text)).toBeUndefined()
    },
  )

  it('is refused for an item of another journal and for something else', () => {
    const codeOf = (item: unknown) => {
      try {
        return itemCursor('sbx_a.b-c', item as JournalItem)
      } catch (error) {
        return (error as { code?: string }).code
      }
    }
    expect(codeOf({ ...event, journal: 'sbx_b' })).toBe('cursor_foreign')
    expect(codeOf({ ...gap, journal: 'sbx_b' })).toBe('cursor_foreign')
    for (const item of [null, 5, 'x', {}, { data: {} }, { ...event, seq: -1 }, { ...event, time: 'now' }])
      expect(codeOf(item), JSON.stringify(item)).toBe('argument_invalid')
    expect(itemSeq('sbx_a.b-c', { seq: 0 })).toBe(0)
  })
})
