import { deepStrictEqual } from 'node:assert'
import { isGap, type JournalEvent, type JsonObject, matchTypes } from '@vitrine/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { listSandboxes, rebuild, sandboxEventTypes, sandboxesView } from '../../src/index.ts'
import { event, gap } from '../journal-items.ts'
import { anySessions } from '../sessions/any-sessions.ts'
import { describeViewProperties } from '../view-properties.ts'

const view = sandboxesView()

function at(journal: string, seq: number, type: string, data: JsonObject = {}, context = {}): JournalEvent {
  return { ...event(seq, type, data, { sandbox: journal, ...context }), journal }
}

const started = [
  at('one', 1, 'sandbox.created', { provider: 'local' }),
  at('two', 2, 'sandbox.created', { provider: 'docker' }),
  at('one', 3, 'sandbox.ready'),
  at('two', 4, 'sandbox.ready'),
  at('one', 5, 'session.created', { agent: 'demo' }, { session: 's' }),
]

describe('the overview of sandboxes', () => {
  describeViewProperties(sandboxesView({ maxDestroyed: 1 }), anySessions)

  it('is the same with all events and with those of its types', () => {
    const matches = matchTypes(sandboxEventTypes)
    fc.assert(
      fc.property(anySessions, (items) => {
        const used = items.filter((item) => isGap(item) || matches(item.type))
        deepStrictEqual(rebuild(view, used), rebuild(view, items))
      }),
    )
  })

  it('keeps the events of each sandbox apart, and ignores journals that are not of a sandbox', () => {
    const overview = rebuild(view, [
      ...started,
      at('one', 6, 'permission.requested', { permission: 'p', toolCall: { title: 'Run' } }, { session: 's' }),
      at('two', 7, 'operation.started', { op: 'exec' }),
      { ...event(8, 'turn.finished', { usage: { inputTokens: 9 } }, { sandbox: 'two' }), journal: 'loop_1' },
      at('one', 9, 'turn.finished', { cost: { amount: 2 }, usage: { inputTokens: 1 } }, { session: 's' }),
    ])
    const [one, two] = listSandboxes(overview)
    expect(listSandboxes(overview)).toHaveLength(2)
    expect(one).toMatchObject({
      id: 'one',
      state: 'running',
      provider: 'local',
      createdAt: { seq: 1 },
      openSessions: ['s'],
      sessions: 1,
      waiting: [{ kind: 'permission', id: 'p', session: 's', text: 'Run' }],
      tokens: { inputTokens: 1 },
      cost: [{ amount: 2 }],
      last: { seq: 9 },
    })
    expect(two).toEqual({
      id: 'two',
      state: 'running',
      provider: 'docker',
      createdAt: { seq: 2, time: started[1]?.time },
      openSessions: [],
      sessions: 0,
      waiting: [],
      last: { seq: 7, time: expect.any(String) },
    })
  })

  it.each([
    ['sandbox.paused', 'paused'],
    ['sandbox.stopped', 'stopped'],
    ['sandbox.destroyed', 'destroyed'],
    ['journal.recovered', 'stopped'],
  ])('shows the state after %s', (type, state) => {
    const [one] = listSandboxes(rebuild(view, [...started, at('one', 6, type)]))
    expect(one).toMatchObject({ state, openSessions: state === 'paused' ? ['s'] : [], sessions: 1 })
  })

  it('shows no sandbox as running after a start of the host, and a destroyed one as destroyed', () => {
    const overview = rebuild(view, [
      ...started,
      at('two', 6, 'sandbox.destroyed'),
      { ...event(1, 'host.started'), journal: 'host' },
    ])
    expect(listSandboxes(overview)).toMatchObject([
      { id: 'one', state: 'stopped', openSessions: [] },
      { id: 'two', state: 'destroyed' },
    ])
  })

  it('drops the sandboxes that were destroyed first beyond its limit, and counts them', () => {
    const events = ['a', 'b', 'c'].flatMap((id) => [
      at(id, 1, 'sandbox.created'),
      at(id, 2, 'sandbox.destroyed'),
    ])
    const overview = rebuild(sandboxesView({ maxDestroyed: 1 }), [...started, ...events])
    expect(listSandboxes(overview).map(({ id }) => id)).toEqual(['c', 'one', 'two'])
    expect(overview.dropped).toBe(2)
  })

  it('says that an event may be missing', () => {
    expect(rebuild(view, [gap(1, 4, ['session.created'])]).complete).toBe(false)
    expect(rebuild(view, [gap(1, 4, ['file.changed'])]).complete).toBe(true)
  })
})
