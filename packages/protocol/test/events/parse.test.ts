import { describe, expect, it } from 'vitest'
import { isVitrineError, parseEvent } from '../../src/index.ts'

const event = {
  journal: 'sbx_a',
  seq: 1,
  time: '2026-01-02T03:04:05.678Z',
  type: 'log.message',
  source: 'host',
  data: { level: 'info', message: 'hi' },
}

describe('parseEvent', () => {
  it('returns the event itself, not a copy', () => {
    expect(parseEvent(event)).toBe(event)
  })

  it.each([
    ['a type this version does not know', { type: 'hologram.shown', data: { deep: { er: [1, 'x', null] } } }],
    ['a type of no known form', { type: 'UPPER case, with spaces' }],
    ['a source this version does not know', { source: 'satellite' }],
    ['a field of a newer version in the envelope', { region: 'eu', nested: { a: 1 } }],
    ['a field of a newer version in the data', { data: { level: 'info', message: 'hi', colour: 'red' } }],
    ['a field of a newer version in the trace', { trace: { traceId: 't', spanId: 's', state: 'x' } }],
    ['no more than it must have', {}],
  ])('accepts an event with %s unchanged', (_what, fields) => {
    const newer = { ...event, ...fields }
    const before = structuredClone(newer)
    expect(parseEvent(newer)).toEqual(before)
  })

  it.each([
    ['no journal', { journal: undefined }, 'event.journal'],
    ['an empty journal', { journal: '' }, 'event.journal'],
    ['a seq of 0', { seq: 0 }, 'event.seq'],
    ['a seq that is not whole', { seq: 1.5 }, 'event.seq'],
    ['a seq that is a string', { seq: 'planted' }, 'event.seq'],
    ['no time', { time: undefined }, 'event.time'],
    ['no type', { type: '' }, 'event.type'],
    ['no source', { source: undefined }, 'event.source'],
    ['an empty actor', { actor: '' }, 'event.actor'],
    ['a trace without ids', { trace: { traceId: 'planted' } }, 'event.trace.spanId'],
    ['derived: false', { derived: false }, 'event.derived'],
    ['data that is an array', { data: ['planted'] }, 'event.data'],
    ['data that JSON cannot carry', { data: { call: () => 'planted' } }, 'event.data.call'],
    ['no data', { data: undefined }, 'event.data'],
  ])('refuses an event with %s and names the path, not the value', (_what, fields, path) => {
    try {
      parseEvent({ ...event, ...fields })
    } catch (error) {
      if (!isVitrineError(error)) throw error
      expect(error.code).toBe('event_invalid')
      expect(error.details.path).toBe(path)
      expect(JSON.stringify(error) + error.message).not.toContain('planted')
      return
    }
    throw new Error('Expected a refusal, but the event passed.')
  })

  it.each([[null], ['text'], [5], [undefined], [[]]])('refuses %j', (value) => {
    expect(() => parseEvent(value)).toThrow(expect.objectContaining({ code: 'event_invalid' }))
  })
})
