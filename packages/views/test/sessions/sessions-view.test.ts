import { deepStrictEqual } from 'node:assert'
import { isGap, matchTypes } from '@vitrine/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { listSessions, rebuild, sessionEventTypes, sessionsView } from '../../src/index.ts'
import { event, gap } from '../journal-items.ts'
import { describeViewProperties } from '../view-properties.ts'
import { anySessions } from './any-sessions.ts'

const view = sessionsView()
const of = { session: 's' }
const inTurn = { session: 's', turn: 't1' }
const created = event(1, 'session.created', { agent: 'demo', cwd: '/w', agentSession: 'x' }, of)

describe('the list of sessions', () => {
  describeViewProperties(sessionsView({ maxClosed: 1 }), anySessions)

  it('is the same with all events and with those of its types', () => {
    const matches = matchTypes(sessionEventTypes)
    fc.assert(
      fc.property(anySessions, (items) => {
        const used = items.filter((item) => isGap(item) || matches(item.type))
        deepStrictEqual(rebuild(view, used), rebuild(view, items))
      }),
    )
  })

  it('shows the running turn, the queued prompts and the waiting requests in short', () => {
    const events = [
      created,
      event(2, 'session.updated', { title: 'Fix it' }, of),
      event(3, 'turn.started', { index: 0 }, inTurn),
      event(
        4,
        'prompt.queued',
        { position: 1, prompt: [{ type: 'text', text: 'and then' }] },
        { ...of, turn: 't2' },
      ),
      event(5, 'permission.requested', { permission: 'p', toolCall: { title: 'Run make' } }, inTurn),
      event(6, 'question.requested', { question: 'q', message: 'Which '.repeat(100) }, inTurn),
      event(7, 'agent.message', {}, inTurn),
    ]
    const [session] = listSessions(rebuild(view, events))
    expect(session).toMatchObject({
      id: 's',
      state: 'open',
      agent: 'demo',
      title: 'Fix it',
      cwd: '/w',
      agentSession: 'x',
      createdAt: { seq: 1 },
      turns: 1,
      activity: {
        turn: { id: 't1', since: { seq: 3 } },
        queued: [{ turn: 't2', since: { seq: 4 }, text: 'and then' }],
        waiting: [
          { kind: 'permission', id: 'p', turn: 't1', text: 'Run make', since: { seq: 5 } },
          { kind: 'question', id: 'q', since: { seq: 6 } },
        ],
        last: { seq: 6 },
      },
    })
    expect(session?.activity.waiting[1]?.text).toHaveLength(200)
    const later = [
      event(8, 'permission.resolved', { permission: 'p', outcome: 'ok' }, inTurn),
      event(9, 'question.resolved', { question: 'q', outcome: 'ok' }, inTurn),
      event(10, 'turn.finished', { outcome: 'ok' }, inTurn),
      event(11, 'turn.started', {}, { ...of, turn: 't2' }),
    ]
    const [after] = listSessions(rebuild(view, [...events, ...later]))
    expect(after?.activity).toMatchObject({ turn: { id: 't2' }, queued: [], waiting: [], outcome: 'ok' })
    expect(after?.turns).toBe(2)
  })

  it('sums what turns reported, by currency, and leaves out what none reported', () => {
    const finish = (seq: number, data: object) =>
      event(seq, 'turn.finished', { outcome: 'ok', ...data }, inTurn)
    const [none] = listSessions(rebuild(view, [created, finish(2, {})]))
    expect(Object.keys(none?.activity ?? {}).sort()).toEqual(['last', 'outcome', 'queued', 'waiting'])
    const [some] = listSessions(
      rebuild(view, [
        created,
        finish(2, {
          usage: { inputTokens: 5 },
          cost: { amount: 0.25, currency: 'USD' },
          context: { used: 9 },
        }),
        finish(3, {}),
        finish(4, {
          usage: { inputTokens: 2, outputTokens: 1 },
          cost: { amount: 0.5, currency: 'USD' },
          context: { used: 12, size: 100 },
        }),
        finish(5, { cost: { amount: 3 } }),
      ]),
    )
    expect(some?.activity).toMatchObject({
      tokens: { inputTokens: 7, outputTokens: 1 },
      cost: [{ amount: 0.75, currency: 'USD' }, { amount: 3 }],
      context: { used: 12, size: 100 },
    })
    expect(some?.activity.tokens).not.toHaveProperty('totalTokens')
  })

  it.each(['sandbox.stopped', 'sandbox.destroyed', 'journal.recovered'])(
    'has no open session, turn or request after %s',
    (type) => {
      const events = [
        created,
        event(2, 'turn.started', {}, inTurn),
        event(3, 'prompt.queued', { position: 1 }, { ...of, turn: 't2' }),
        event(4, 'permission.requested', { permission: 'p' }, inTurn),
        event(5, type, {}),
      ]
      const [session] = listSessions(rebuild(view, events))
      expect(session).toMatchObject({ state: 'closed', activity: { queued: [], waiting: [] } })
      expect(session?.activity).not.toHaveProperty('turn')
    },
  )

  it('opens a session again that was restored, and drops a title that was removed', () => {
    const events = [
      created,
      event(2, 'session.updated', { title: 'Old' }, of),
      event(3, 'session.closed', {}, of),
      event(4, 'session.updated', { restored: 'load', title: null }, of),
    ]
    expect(listSessions(rebuild(view, events.slice(0, 3)))).toMatchObject([{ state: 'closed', title: 'Old' }])
    const list = rebuild(view, events)
    expect(listSessions(list)).toMatchObject([{ state: 'open', agent: 'demo' }])
    expect(listSessions(list)[0]).not.toHaveProperty('title')
    expect(list.closed).toEqual([])
  })

  it('drops the sessions that were closed first beyond its limit, counts them, and keeps open ones', () => {
    const events = [created]
    for (let seq = 2; seq <= 8; seq += 2) {
      events.push(event(seq, 'session.created', { agent: 'demo' }, { session: `s${seq}` }))
      events.push(event(seq + 1, 'session.closed', {}, { session: `s${seq}` }))
    }
    const list = rebuild(sessionsView({ maxClosed: 2 }), events)
    expect(listSessions(list).map(({ id }) => id)).toEqual(['s', 's6', 's8'])
    expect(list.dropped).toBe(2)
    expect(() => sessionsView({ maxClosed: -1 })).toThrow(
      'maxClosed: expected a whole number of at least 0, got -1.',
    )
  })

  it('bounds the currencies that an agent names', () => {
    const finish = (seq: number) =>
      event(seq, 'turn.finished', { outcome: 'ok', cost: { amount: 1, currency: `c${seq}` } }, inTurn)
    const [session] = listSessions(
      rebuild(view, [created, ...Array.from({ length: 100 }, (_, at) => finish(at + 2))]),
    )
    expect(session?.activity.cost).toHaveLength(8)
  })

  it('says that a session may be missing, and lists one whose start is', () => {
    const list = rebuild(view, [gap(1, 4, ['session.created']), event(5, 'session.closed', {}, of)])
    expect(list.complete).toBe(false)
    expect(listSessions(list)).toMatchObject([{ id: 's', state: 'closed' }])
    expect(listSessions(list)[0]).not.toHaveProperty('agent')
    expect(rebuild(view, [gap(1, 4, ['process.output'])]).complete).toBe(true)
  })
})
