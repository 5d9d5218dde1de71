// The matchers of vitest fail for a key called `constructor`, so this uses the equality of Node.
import { deepStrictEqual } from 'node:assert'
import type { JournalItem } from '@vitrine/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { listTranscript, rebuild, type Transcript, transcriptView } from '../../src/index.ts'
import { deepFreeze } from '../deep-freeze.ts'
import { event, gap } from '../journal-items.ts'
import { describeViewProperties } from '../view-properties.ts'
import { anyConversation } from './any-conversation.ts'
import {
  calls,
  conversation,
  finish,
  says,
  start,
  type TestEvent,
  text,
  thinks,
  update,
  updates,
} from './conversation.ts'

const view = transcriptView()
const small = transcriptView({ limits: { maxEntries: 4, maxChars: 120, maxEntryChars: 60, maxTurns: 2 } })

describe('the transcript', () => {
  describeViewProperties(view)

  describe.each([
    ['with room', view],
    ['without', small],
  ])('the transcript of any conversation, %s', (_name, each) => {
    const batches = fc.tuple(anyConversation, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }))

    it('is the same for any batches and over JSON, and does not modify its inputs', () => {
      fc.assert(
        fc.property(batches, ([items, sizes]) => {
          const whole = rebuild(each, deepFreeze(items))
          let state = deepFreeze(each.empty)
          let restored = each.empty
          for (const part of inBatches(items, sizes)) {
            state = deepFreeze(each.add(state, part))
            restored = each.add(JSON.parse(JSON.stringify(restored)), part)
          }
          deepStrictEqual(state, whole)
          deepStrictEqual(restored, whole)
          deepStrictEqual(JSON.parse(JSON.stringify(whole)), whole)
        }),
      )
    })

    it('has consistent counts and references', () => {
      fc.assert(
        fc.property(anyConversation, (items) => {
          const transcript = rebuild(each, items)
          const entries = listTranscript(transcript)
          expect(entries.length).toBe(transcript.entries.length)
          expect(entries.reduce((sum, { chars }) => sum + chars, 0)).toBe(transcript.chars)
          expect(new Set(entries.map(({ kind, id }) => `${kind} ${id}`)).size).toBe(entries.length)
          const seqs = entries.map(({ beganAt }) => beganAt.seq)
          expect(seqs).toEqual(seqs.toSorted((a, b) => a - b))
        }),
      )
    })
  })

  it('contains one turn from its prompt to its end', () => {
    const transcript = rebuild(
      view,
      conversation(
        ['session.created', { agent: 'demo' }],
        start('turn_1', [text('Fix it.'), { type: 'image', mimeType: 'image/png', bytes: 2048 }]),
        thinks('Hm'),
        thinks('m.'),
        says('Let me '),
        says('look.'),
        calls('c1', { kind: 'execute', rawInput: { command: ['npm', 'test'] }, status: 'in_progress' }),
        updates('c1', {
          status: 'completed',
          content: [{ type: 'content', content: text('2 passed') }],
        }),
        says('Done.'),
        update('session_info_update', { title: 'Fixing' }),
        finish('turn_1', { usage: { inputTokens: 10, outputTokens: 2 }, durationMs: 5 }),
        ['session.closed', {}],
      ),
    )
    const at = (seq: number) => ({ seq, time: `2026-01-02T10:15:${String(seq).padStart(2, '0')}.000Z` })
    const turn = 'turn_1'
    expect(listTranscript(transcript)).toEqual([
      {
        kind: 'message',
        role: 'user',
        id: 'msg_2',
        turn,
        beganAt: at(2),
        changedAt: at(2),
        text: 'Fix it.',
        chars: 7,
        attachments: [{ type: 'image', mimeType: 'image/png', bytes: 2048 }],
      },
      { kind: 'thought', id: 'thought_3', turn, beganAt: at(3), changedAt: at(4), text: 'Hmm.', chars: 4 },
      {
        kind: 'message',
        role: 'assistant',
        id: 'msg_5',
        turn,
        beganAt: at(5),
        changedAt: at(6),
        text: 'Let me look.',
        chars: 12,
      },
      {
        kind: 'toolCall',
        id: 'c1',
        toolCallId: 'c1',
        turn,
        beganAt: at(7),
        changedAt: at(8),
        endedAt: at(8),
        status: 'completed',
        title: 'call c1',
        toolKind: 'execute',
        subject: 'npm test',
        input: { command: ['npm', 'test'] },
        content: { text: '2 passed', diffs: [], attachments: [] },
        chars: expect.any(Number),
      },
      {
        kind: 'message',
        role: 'assistant',
        id: 'msg_9',
        turn,
        beganAt: at(9),
        changedAt: at(9),
        text: 'Done.',
        chars: 5,
      },
    ])
    expect(transcript).toMatchObject({
      agent: 'demo',
      title: 'Fixing',
      turns: [
        {
          id: turn,
          index: 0,
          startedAt: at(2),
          endedAt: at(11),
          outcome: 'ok',
          stopReason: 'end_turn',
          durationMs: 5,
          usage: { inputTokens: 10, outputTokens: 2 },
        },
      ],
      usage: { tokens: { inputTokens: 10, outputTokens: 2 } },
      closedAt: at(12),
      dropped: 0,
      complete: true,
    })
    expect(transcript).not.toHaveProperty('turn')
  })

  it('ignores events of other sessions', () => {
    const events = [
      ...conversation(start('turn_1')),
      event(2, 'turn.started', { prompt: [text('other')] }, { session: 'ses_2', turn: 'turn_2' }),
      event(3, 'turn.started', { prompt: [text('nobody')] }, { turn: 'turn_3' }),
    ]
    expect(messageLines(rebuild(transcriptView({ session: 'ses_1' }), events))).toEqual([
      'user: prompt of turn_1',
    ])
    expect(rebuild(view, events).turns).toHaveLength(3)
  })

  it('sums the usage of turns and has the latest size of the context', () => {
    const { usage } = rebuild(
      view,
      conversation(
        start('t1'),
        update('usage_update', { used: 10, size: 100, cost: { amount: 0.5, currency: 'USD' } }),
        finish('t1', { usage: { inputTokens: 10, totalTokens: 12 } }),
        start('t2'),
        update('usage_update', { used: 20, size: 100, cost: null }),
        finish('t2', { usage: { inputTokens: 1, outputTokens: 2 } }),
        finish('t2', { usage: { inputTokens: 1, outputTokens: 2 } }),
      ),
    )
    expect(usage).toEqual({
      context: { used: 20, size: 100 },
      cost: { amount: 0.5, currency: 'USD' },
      tokens: { inputTokens: 11, outputTokens: 2, totalTokens: 12 },
    })
  })

  it('has the latest plan', () => {
    const plan = (...events: readonly TestEvent[]) => rebuild(view, conversation(...events)).plan
    const first = update('plan', { entries: [{ content: 'look', status: 'completed', priority: 'high' }] })
    const second = update('plan_update', { plan: { type: 'markdown', planId: 'p', content: '# Go' } })
    expect(plan(first)).toMatchObject({
      entries: [{ content: 'look', status: 'completed', priority: 'high' }],
      changedAt: { seq: 1 },
    })
    expect(plan(first, second)).toMatchObject({ id: 'p', text: '# Go', entries: [] })
    expect(plan(first, second, update('plan_removed', { planId: 'other' }))).toBeDefined()
    expect(plan(first, second, update('plan_removed', { planId: 'p' }))).toBeUndefined()
    expect(plan(first, update('plan', { entries: [] }))).toBeUndefined()
  })

  it('has the latest title, from the agent or the host, until it is cleared', () => {
    const title = (...events: readonly TestEvent[]) => rebuild(view, conversation(...events)).title
    const ours: TestEvent = ['session.updated', { title: 'Ours' }]
    const theirs = update('session_info_update', { title: 'Theirs' })
    expect(title(ours, theirs)).toBe('Theirs')
    expect(title(theirs, ours, update('session_info_update', { updatedAt: 'now' }))).toBe('Ours')
    expect(title(ours, update('session_info_update', { title: null }))).toBeUndefined()
    expect(title(theirs, ['session.updated', { title: null }])).toBeUndefined()
  })

  it('has closedAt until the session is restored', () => {
    const closed = conversation(['session.created', { agent: 'demo' }], ['session.closed', {}])
    expect(rebuild(view, closed).closedAt).toMatchObject({ seq: 2 })
    const restored = event(3, 'session.updated', { restored: 'load' }, { session: 'ses_1' })
    expect(rebuild(view, [...closed, restored])).not.toHaveProperty('closedAt')
  })

  it('contains permissions and questions with their answers', () => {
    const transcript = rebuild(
      view,
      conversation(
        start('t1'),
        calls('c1'),
        [
          'permission.requested',
          {
            permission: 'perm_1',
            toolCall: { toolCallId: 'c1', title: 'rm x' },
            options: [{ id: 'y', name: 'Yes', kind: 'allow_once' }],
          },
        ],
        [
          'permission.resolved',
          { permission: 'perm_1', outcome: 'ok', answer: 'allow_once', option: 'y', by: 'jo' },
        ],
        ['question.requested', { question: 'qst_1', message: 'Which?', mode: 'form', schema: { a: 1 } }],
        ['question.resolved', { question: 'qst_1', outcome: 'ok', action: 'accept', content: { a: 'b' } }],
        ['question.resolved', { question: 'qst_1', outcome: 'cancelled', action: 'cancel' }],
      ),
    )
    expect(listTranscript(transcript).slice(1)).toMatchObject([
      { kind: 'toolCall', id: 'c1', title: 'rm x' },
      {
        kind: 'permission',
        id: 'perm_1',
        turn: 't1',
        toolCall: 'c1',
        title: 'rm x',
        options: [{ id: 'y', name: 'Yes', kind: 'allow_once' }],
        answer: 'allow_once',
        option: 'y',
        by: 'jo',
        beganAt: { seq: 3 },
        resolvedAt: { seq: 4 },
      },
      {
        kind: 'question',
        id: 'qst_1',
        message: 'Which?',
        mode: 'form',
        schema: { a: 1 },
        action: 'accept',
        content: { a: 'b' },
        outcome: 'ok',
        resolvedAt: { seq: 6 },
      },
    ])
  })

  it('contains an answer whose request is missing', () => {
    const items = conversation([
      'permission.resolved',
      { permission: 'p', outcome: 'ok', answer: 'allow_once' },
    ])
    expect(listTranscript(rebuild(view, items))).toMatchObject([
      { id: 'p', options: [], answer: 'allow_once' },
    ])
  })

  it('contains the error of a failed turn', () => {
    const more = {
      outcome: 'failed',
      errorCode: 'agent_failed',
      errorMessage: { blob: 'sha256:1', bytes: 70_000 },
      modelError: { sign: 'message', text: '400' },
    }
    expect(rebuild(view, conversation(start('t1'), finish('t1', more))).turns).toMatchObject([
      {
        outcome: 'failed',
        errorCode: 'agent_failed',
        errorMessage: '(68.4 KiB in a blob)',
        modelError: { text: '400' },
      },
    ])
  })

  it.each<[string, JournalItem]>([
    ['a gap that may hide messages', gap(1, 4, ['agent.message'])],
    ['a gap that may hide a turn', gap(1, 4, ['turn.started'])],
    ['a gap without types', gap(1, 4)],
    [
      'a message of the agent that is stored as a blob',
      event(1, 'agent.message', { direction: 'out', message: { blob: 'sha256:1', bytes: 2_000_000 } }),
    ],
  ])('is incomplete after %s', (_name, item) => {
    expect(rebuild(view, [item]).complete).toBe(false)
  })

  it.each<[string, JournalItem]>([
    ['a gap of other events', gap(1, 4, ['process.output', 'file.changed'])],
    [
      'a message to the agent that is stored as a blob',
      event(1, 'agent.message', { direction: 'in', message: { blob: 'sha256:1', bytes: 2_000_000 } }),
    ],
  ])('stays complete after %s', (_name, item) => {
    expect(rebuild(view, [item]).complete).toBe(true)
  })

  it('adds 100,000 chunks one by one', () => {
    let state = rebuild(view, conversation(start('t1')))
    for (let seq = 2; seq <= 100_001; seq += 1) {
      const [type, data] = says('word ')
      state = view.add(state, [event(seq, type, data)])
    }
    expect(listTranscript(state)).toMatchObject([
      { role: 'user' },
      { id: 'msg_2', chars: 100_000, cut: true, changedAt: { seq: 100_001 } },
    ])
  })

  it('adds 100,000 chunks in one batch, completely if the limit allows it', () => {
    const [type, data] = says('word ')
    const chunks = Array.from({ length: 100_000 }, (_none, index) => event(index + 1, type, data))
    const state = rebuild(transcriptView({ limits: { maxEntryChars: 1_000_000 } }), chunks)
    expect(listTranscript(JSON.parse(JSON.stringify(state)))).toMatchObject([
      { text: 'word '.repeat(100_000) },
    ])
  })
})

function messageLines(transcript: Transcript): string[] {
  return listTranscript(transcript).flatMap((entry) =>
    entry.kind === 'message' ? `${entry.role}: ${entry.text}` : [],
  )
}

function inBatches(items: readonly JournalItem[], sizes: readonly number[]): JournalItem[][] {
  const parts: JournalItem[][] = []
  for (let from = 0; from < items.length; ) {
    const size = sizes[parts.length % sizes.length] ?? 1
    parts.push(items.slice(from, from + size))
    from += size
  }
  return parts
}
