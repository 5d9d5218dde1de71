import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  checkEventInput,
  eventCatalogue,
  foreignEvent,
  type JournalEvent,
  parseEvent,
  unwrapForeignEvent,
} from '../../src/index.ts'

const envelope = { journal: 'sbx_a', seq: 7, time: '2026-01-02T03:04:05.678Z', source: 'foreign' } as const

/** The event as a reader of the journal gets it, after a round trip through JSON. */
function committed(raw: unknown): JournalEvent {
  const { type, data } = foreignEvent(raw)
  return parseEvent({ ...envelope, type, data: JSON.parse(JSON.stringify(data)) })
}

const position = { seq: 7, time: envelope.time }

describe('foreignEvent', () => {
  it.each<[string, unknown, { type: string; data: unknown; id?: string }]>([
    [
      'an event of its own',
      { type: 'message.delta', data: { text: 'hi' } },
      { type: 'message.delta', data: { text: 'hi' } },
    ],
    ['an id', { type: 'a', data: 1, id: 'e1' }, { type: 'a', data: 1, id: 'e1' }],
    ['no data', { type: 'ping' }, { type: 'ping', data: null }],
    ['null as data', { type: 'ping', data: null }, { type: 'ping', data: null }],
    ['false as data', { type: 'flag', data: false }, { type: 'flag', data: false }],
    ['0 as data', { type: 'count', data: 0 }, { type: 'count', data: 0 }],
    ['an empty text as data', { type: 'text', data: '' }, { type: 'text', data: '' }],
    ['an empty type', { type: '', data: 1 }, { type: '', data: 1 }],
    [
      'fields beside its data',
      { type: 'a', data: 1, delta: 'x' },
      { type: 'a', data: { type: 'a', data: 1, delta: 'x' } },
    ],
    ['fields instead of data', { type: 'a', text: 'x' }, { type: 'a', data: { type: 'a', text: 'x' } }],
    [
      'an id that is no text',
      { type: 'a', data: 1, id: 9 },
      { type: 'a', data: { type: 'a', data: 1, id: 9 } },
    ],
    ['an id that is null', { type: 'a', id: null }, { type: 'a', data: { type: 'a', id: null } }],
    ['no type', { data: 1 }, { type: 'unknown', data: { data: 1 } }],
    ['a type that is not a string', { type: 5, data: 1 }, { type: 'unknown', data: { type: 5, data: 1 } }],
    ['an array', [1, { type: 'a' }], { type: 'unknown', data: [1, { type: 'a' }] }],
    ['a string', 'plain words', { type: 'unknown', data: 'plain words' }],
    ['a number', 42, { type: 'unknown', data: 42 }],
    ['null', null, { type: 'unknown', data: null }],
    ['nothing', undefined, { type: 'unknown', data: null }],
    ['an empty object', {}, { type: 'unknown', data: {} }],
  ])('wraps an event that unwraps with its seq and time: %s', (_what, raw, back) => {
    const input = foreignEvent(raw)
    expect(input.type).toBe('foreign.event')
    expect(() => checkEventInput(input)).not.toThrow()
    expect(unwrapForeignEvent(committed(raw))).toEqual({ ...back, ...position })
  })

  it.each(Object.keys(eventCatalogue))('accepts the reserved type %s as a foreign event', (type) => {
    const raw = { type, data: { anything: true } }
    expect(foreignEvent(raw).type).toBe('foreign.event')
    expect(() => checkEventInput(foreignEvent(raw))).not.toThrow()
    expect(unwrapForeignEvent(committed(raw))).toEqual({ ...raw, ...position })
  })

  it('accepts journal.gap as the type of a foreign event', () => {
    const raw = { type: 'journal.gap', data: { from: 1, to: 9 } }
    expect(unwrapForeignEvent(committed(raw))).toEqual({ ...raw, ...position })
  })

  it('accepts any value and loses no data', () => {
    fc.assert(
      fc.property(fc.anything({ withDate: true, withMap: true, withSet: true, withBigInt: true }), (raw) => {
        const input = foreignEvent(raw)
        expect(() => checkEventInput(input)).not.toThrow()
        const { type, data, id } = input.data ?? {}
        expect(typeof type).toBe('string')
        if (Object.is(data, raw) || raw === undefined) return
        expect({ type, ...(data !== null && { data }), ...(id !== undefined && { id }) }).toEqual(
          data === null ? { ...(raw as object), data: undefined, type } : raw,
        )
      }),
    )
  })

  it('accepts a value whose properties throw', () => {
    const throwing = {
      get type(): string {
        throw new Error('no')
      },
    }
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    for (const raw of [throwing, proxy]) expect(foreignEvent(raw).type).toBe('foreign.event')
  })
})

describe('unwrapForeignEvent', () => {
  it('returns undefined for an event of Vitrine and for a gap notice', () => {
    const data = { level: 'info', message: 'hi' } as const
    expect(unwrapForeignEvent({ ...envelope, type: 'log.message', data })).toBeUndefined()
    const gap = { from: 1, to: 2, reason: 'age', types: ['foreign.event'], cursor: 'c' }
    expect(unwrapForeignEvent({ journal: 'sbx_a', type: 'journal.gap', data: gap })).toBeUndefined()
  })
})
