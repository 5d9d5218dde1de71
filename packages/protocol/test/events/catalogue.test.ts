import { describe, expect, it } from 'vitest'
import {
  checkEventInput,
  eventCatalogue,
  isDesktopEventType,
  isEventType,
  isGap,
  parseEvent,
} from '../../src/index.ts'
import { samples } from './samples.ts'

/** The event types as the design lists them. */
const design = `
  sandbox.{created,ready,degraded,paused,resumed,stopped,destroyed,failed}
  operation.{started,progress,finished}
  process.{started,output,exited}
  file.{created,changed,deleted,moved}
  watch.{ready,degraded}
  network.{allowed,failed,refused}
  agent.{installed,started,message,unparsed,exited}
  session.{created,updated,closed}
  prompt.{queued,dropped}
  turn.{started,finished}
  permission.{requested,resolved}
  question.{requested,resolved}
  run.{started,finished}
  loop.{started,planned,iterated,finished}
  snapshot.{created,restored}
  journal.{recovered,trimmed}
  sink.{failed,recovered}
  host.{started,stopped}
  limit.reached
  log.message
  foreign.event
`

const designed = design
  .trim()
  .split(/\s+/)
  .flatMap((line) => {
    const [family = '', words = ''] = line.split('.')
    return words
      .replace(/[{}]/g, '')
      .split(',')
      .map((word) => `${family}.${word}`)
  })

describe('the catalogue', () => {
  it('has every event type of the design and no other', () => {
    expect(Object.keys(eventCatalogue).sort()).toEqual(designed.toSorted())
  })

  it.each(designed)('has %s and accepts a valid one', (type) => {
    expect(isEventType(type)).toBe(true)
    const sample = Object.entries(samples).find(([name]) => name === type)?.[1]
    expect(sample?.type).toBe(type)
    expect(() => checkEventInput(sample!)).not.toThrow()
  })

  it('accepts an unknown field of a newer version in every type', () => {
    for (const sample of Object.values(samples)) {
      const newer = { ...sample, data: { ...sample.data, fromTheFuture: { deep: [1, null] } } }
      expect(() => checkEventInput(newer)).not.toThrow()
    }
  })

  it('does not have the names of object properties as types', () => {
    for (const type of ['toString', '__proto__', 'constructor', 'hasOwnProperty', '']) {
      expect(isEventType(type)).toBe(false)
    }
  })

  it('does not have journal.gap, which is never stored', () => {
    expect(isEventType('journal.gap')).toBe(false)
    expect(() => checkEventInput({ type: 'journal.gap', data: {} })).toThrow(/journal\.gap/)
  })
})

describe('the open family desktop.*', () => {
  it.each(['desktop.started', 'desktop.mouse_moved'])('accepts %s', (type) => {
    expect(isDesktopEventType(type)).toBe(true)
    expect(() => checkEventInput({ type, data: { x: 1 } })).not.toThrow()
    expect(() => checkEventInput({ type })).not.toThrow()
  })

  it.each([
    'desktop',
    'desktop.',
    'desktop.Started',
    'desktop.a.b',
    'desktop.a"b',
    'desktop.a\n',
    'xdesktop.a',
  ])('refuses %j', (type) => {
    expect(isDesktopEventType(type)).toBe(false)
  })

  it.each([
    ['a string', 'x'],
    ['an array', [1]],
    ['a number', 3],
    ['bytes', new Uint8Array(2)],
  ])('accepts an object as data, but not %s', (_what, data) => {
    expect(() => checkEventInput({ type: 'desktop.started', data: data as never })).toThrow(
      expect.objectContaining({ code: 'event_invalid' }),
    )
  })
})

describe('an item of a journal', () => {
  const event = parseEvent({
    journal: 'sbx_a',
    seq: 1,
    time: '2026-01-01T00:00:00.000Z',
    type: 'log.message',
    source: 'host',
    data: { level: 'info', message: 'hi' },
  })

  it('isGap() recognises a gap notice by its missing seq', () => {
    const data = { from: 1, to: 2, reason: 'age', types: ['log.message'], cursor: 'c' }
    expect(isGap({ journal: 'sbx_a', type: 'journal.gap', data })).toBe(true)
    expect(isGap(event)).toBe(false)
    expect(isGap(parseEvent({ ...event, type: 'journal.gap' }))).toBe(false)
  })
})
