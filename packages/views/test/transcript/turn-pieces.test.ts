import type { JournalItem, StreamPiece } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { parsePieceCursor, turnPieces } from '../../src/index.ts'
import { event, gap } from '../journal-items.ts'
import { conversation, finish, start, type TestEvent, text, update } from './conversation.ts'

const options = { session: 'ses_1', turn: 't1' }
const inTurn = ([type, data, context]: TestEvent): TestEvent => [type, data, { turn: 't1', ...context }]

function piecesOf(items: readonly JournalItem[]): StreamPiece[] {
  let { transcript } = turnPieces.start
  return items.flatMap((item) => {
    const added = turnPieces.add(options, transcript, item)
    transcript = added.transcript
    return added.pieces
  })
}

const say = (content: string) => inTurn(update('agent_message_chunk', { content: text(content) }))
const call = (fields: object) => inTurn(update('tool_call', { toolCallId: 'c1', ...fields }))

describe('the pieces of a turn', () => {
  it('are those of its own events, in their order, each with its event and cursor', () => {
    const pieces = piecesOf(
      conversation(
        start('t1'),
        say('one '),
        ['agent.message', {}, { turn: 't2' }],
        say('two'),
        ['file.created', { path: 'a.txt', kind: 'file', size: 1 }, { turn: 't1' }],
        ['file.created', { path: 'other.txt', kind: 'file' }, { turn: 't2' }],
        finish('t1', { usage: { totalTokens: 3 }, cost: { amount: 0.5 } }),
      ),
    )
    expect(pieces).toMatchObject([
      { type: 'text', id: 'msg_2', text: 'one ', at: { seq: 2 }, cursor: 't1/2/0' },
      { type: 'text', id: 'msg_2', text: 'two', at: { seq: 4 } },
      { type: 'fileChange', change: 'created', path: 'a.txt', size: 1 },
      { type: 'usage', usage: { totalTokens: 3 }, cost: { amount: 0.5 }, cursor: 't1/7/0' },
      { type: 'end', outcome: 'ok', stopReason: 'end_turn', complete: true, cursor: 't1/7/1' },
    ])
  })

  it('have a tool call when it changes and not when it is repeated, and close one that was left open', () => {
    const pieces = piecesOf(
      conversation(
        start('t1'),
        call({ title: 'Read', status: 'pending' }),
        call({ title: 'Read', status: 'pending' }),
        call({ status: 'in_progress' }),
        call({ status: 'pending' }),
        finish('t1'),
      ),
    )
    expect(pieces.map((piece) => (piece.type === 'toolCall' ? piece.status : piece.type))).toEqual([
      'pending',
      'in_progress',
      'unfinished',
      'end',
    ])
  })

  it('have texts that are longer than an entry of a transcript', () => {
    const long = 'x'.repeat(80_000)
    const pieces = piecesOf(conversation(start('t1'), say(long), say(long), say('end'), finish('t1')))
    expect(pieces.map((piece) => (piece.type === 'text' ? piece.text.length : piece.type))).toEqual([
      80_000,
      80_000,
      3,
      'end',
    ])
  })

  it('say at the end that they are not complete, after a gap', () => {
    const [first, last] = conversation(start('t1'), finish('t1'))
    const pieces = piecesOf([first!, gap(2, 5, ['agent.message']), last!])
    expect(pieces).toMatchObject([{ type: 'end', outcome: 'ok', complete: false }])
  })

  it.each([
    [{ reason: 'cancelled' }, { outcome: 'cancelled' }],
    [{ reason: 'interrupted' }, { outcome: 'interrupted' }],
    [{ reason: 'closed' }, { outcome: 'failed', error: { code: 'session_closed' } }],
    [
      { reason: 'failed', errorCode: 'agent_failed', errorMessage: 'no' },
      { outcome: 'failed', error: { code: 'agent_failed', message: 'no' } },
    ],
  ])('end with a prompt that was dropped: %o', (data, end) => {
    const dropped = event(2, 'prompt.dropped', data, { session: 'ses_1', turn: 't1' })
    expect(piecesOf([dropped])).toMatchObject([{ type: 'end', ...end }])
  })
})

it.each(['', 't1', 't1/1', 't2/1/0', 't1/x/0', 't1/1/-1', 5, null])(
  'refuses %o as the cursor of a piece',
  (cursor) => {
    expect(() => parsePieceCursor('t1', cursor)).toThrow(
      /^after: expected the cursor of a piece of the turn t1/,
    )
  },
)
