import { describe, expect, it } from 'vitest'
import { journalEvent, journalItem } from '../../src/http/responses/event.ts'
import { eventCatalogue } from '../../src/index.ts'
import { samples } from '../events/samples.ts'

const envelope = { journal: 'sbx_1', seq: 1, time: '2026-01-01T00:00:00.000Z', source: 'engine' }

describe('The schema of an event', () => {
  it.each(Object.entries(samples))('accepts a %s and keeps all of its fields', (_type, sample) => {
    const event = { ...envelope, ...sample }
    expect(journalEvent().parse(event)).toEqual(event)
  })

  it('has every type of the catalogue', () => {
    expect(Object.keys(samples).sort()).toEqual(Object.keys(eventCatalogue).sort())
  })

  it('refuses data that is invalid for its type', () => {
    const event = { ...envelope, type: 'loop.iterated', data: { loop: 'loop_1', iteration: 'first' } }
    expect(journalEvent().safeParse(event).error?.issues[0]?.path).toEqual(['data', 'iteration'])
  })

  it('refuses a type that is not in the catalogue', () => {
    const event = { ...envelope, type: 'no.such', data: {} }
    expect(journalEvent().safeParse(event).success).toBe(false)
  })

  it('refuses an event without a seq, but accepts a gap notice in a page', () => {
    const { seq: _, ...rest } = { ...envelope, type: 'sandbox.ready', data: {} }
    expect(journalItem().safeParse(rest).success).toBe(false)
    const gap = {
      journal: 'sbx_1',
      type: 'journal.gap',
      data: { from: 1, to: 2, reason: 'age', types: ['log.message'], cursor: 'c' },
    }
    expect(journalItem().parse(gap)).toEqual(gap)
  })
})
