import { describe, expect, it } from 'vitest'
import { listTranscript, rebuild, type TranscriptToolCall, transcriptView } from '../../src/index.ts'
import { asks, calls, conversation, finish, start, type TestEvent, updates } from './conversation.ts'

function toolCalls(...events: readonly TestEvent[]): TranscriptToolCall[] {
  return listTranscript(rebuild(transcriptView(), conversation(...events))).filter(
    (entry) => entry.kind === 'toolCall',
  )
}

const entryLines = (...events: readonly TestEvent[]) =>
  toolCalls(...events).map(({ id, status }) => `${id} ${status}`)

const pending = { status: 'pending' }
const running = { status: 'in_progress' }
const completed = { status: 'completed' }
const failed = { status: 'failed' }

describe('a tool call', () => {
  it.each<[string, TestEvent[], string[]]>([
    ['is pending without a status', [calls('a')], ['a pending']],
    [
      'cline: is created by an update that precedes it',
      [updates('a', running), calls('a')],
      ['a in_progress'],
    ],
    [
      'cline: does not return to pending',
      [updates('a', running), calls('a', pending), updates('a', pending)],
      ['a in_progress'],
    ],
    [
      'gemini: is created by its permission request',
      [asks({ toolCallId: 'a' }), updates('a', completed)],
      ['a completed'],
    ],
    [
      'is also created by a permission.requested event',
      [['permission.requested', { permission: 'p', toolCall: { toolCallId: 'a' } }]],
      ['a pending'],
    ],
    ['does not run again once it has ended', [calls('a', completed), updates('a', running)], ['a completed']],
    ['keeps its first final status', [calls('a', failed), updates('a', completed)], ['a failed']],
    [
      'codex: is cancelled if the host closed it with the turn',
      [start('t'), calls('a', running), finish('t', { closedToolCalls: ['a', 'unknown'] })],
      ['a cancelled'],
    ],
    [
      'copilot: is cancelled with its turn, also without a message',
      [start('t'), calls('a'), finish('t', { outcome: 'cancelled' })],
      ['a cancelled'],
    ],
    [
      'is unfinished if its turn ended with ok',
      [start('t'), calls('a', running), calls('b', completed), finish('t')],
      ['a unfinished', 'b completed'],
    ],
    [
      'opencode: keeps the status that the agent set before its turn was cancelled',
      [
        start('t'),
        calls('a'),
        updates('a', completed),
        finish('t', { outcome: 'cancelled', closedToolCalls: ['a'] }),
      ],
      ['a completed'],
    ],
    [
      'takes a final status of its agent even after the turn',
      [
        start('t'),
        calls('a'),
        finish('t', { outcome: 'cancelled' }),
        updates('a', running),
        updates('a', failed),
      ],
      ['a failed'],
    ],
    [
      'codex: continues in the next turn as the same call',
      [
        start('t'),
        calls('a', running),
        finish('t', { outcome: 'cancelled' }),
        start('u'),
        updates('a', running),
        updates('a', completed),
      ],
      ['a completed'],
    ],
    [
      'is not closed by the end of a later turn',
      [calls('before'), start('t'), calls('a'), finish('t')],
      ['before pending', 'a unfinished'],
    ],
    [
      'is unfinished when the session closes outside of any turn',
      [calls('a'), ['session.closed', {}]],
      ['a unfinished'],
    ],
    [
      'is a new call if its id is used again in a later turn',
      [start('t'), calls('a', completed), finish('t'), start('u'), calls('a'), updates('a', failed)],
      ['a completed', 'a:5 failed'],
    ],
    [
      'is a new call if the reused id begins with an update',
      [start('t'), calls('a', completed), finish('t'), start('u'), updates('a', running), calls('a')],
      ['a completed', 'a:5 in_progress'],
    ],
    [
      'is the same call in a later turn while it has not ended',
      [calls('a', running), start('t'), calls('a'), updates('a', completed)],
      ['a completed'],
    ],
    ['is ignored without an id', [calls('')], []],
  ])('%s', (_name, events, entries) => {
    expect(entryLines(...events)).toEqual(entries)
  })

  it('replaces the fields of an update and keeps the others', () => {
    const [call] = toolCalls(
      calls('a', {
        title: 'Edit',
        kind: 'edit',
        rawInput: { path: 'src/a.ts' },
        locations: [{ path: '/w/src/a.ts', line: 3 }],
      }),
      updates('a', {
        title: null,
        status: 'completed',
        rawOutput: { ok: true },
        content: [
          { type: 'diff', path: '/w/src/a.ts', oldText: null, newText: 'new' },
          { type: 'diff', path: '/w/b', oldText: 'old', newText: { blob: 'sha256:1', bytes: 70_000 } },
          { type: 'terminal', terminalId: 'term_1' },
          { type: 'content', content: { type: 'text', text: 'done' } },
        ],
      }),
    )
    expect(call).toMatchObject({
      title: 'Edit',
      toolKind: 'edit',
      subject: 'src/a.ts',
      locations: [{ path: '/w/src/a.ts', line: 3 }],
      input: { path: 'src/a.ts' },
      output: { ok: true },
      content: {
        text: 'done',
        diffs: [
          { path: '/w/src/a.ts', newText: 'new' },
          { path: '/w/b', oldText: 'old', newText: { blob: 'sha256:1', bytes: 70_000 } },
        ],
        attachments: [{ type: 'terminal', name: 'term_1' }],
      },
    })
    expect(call?.content?.diffs[0]).not.toHaveProperty('oldText')
  })
})
