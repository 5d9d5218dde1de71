import { describe, expect, it } from 'vitest'
import { listTranscript, rebuild, type TranscriptToolCall, transcriptView } from '../../src/index.ts'
import { asks, calls, conversation, finish, type Said, start, updates } from './conversation.ts'

function toolCalls(...said: readonly Said[]): TranscriptToolCall[] {
  return listTranscript(rebuild(transcriptView(), conversation(...said))).filter(
    (entry) => entry.kind === 'toolCall',
  )
}

const drawn = (...said: readonly Said[]) => toolCalls(...said).map(({ id, status }) => `${id} ${status}`)

const pending = { status: 'pending' }
const running = { status: 'in_progress' }
const completed = { status: 'completed' }
const failed = { status: 'failed' }

describe('a tool call', () => {
  it.each<[string, Said[], string[]]>([
    ['is pending if nothing else is said', [calls('a')], ['a pending']],
    [
      'cline: is made by an update that comes before it',
      [updates('a', running), calls('a')],
      ['a in_progress'],
    ],
    [
      'cline: does not go back to pending',
      [updates('a', running), calls('a', pending), updates('a', pending)],
      ['a in_progress'],
    ],
    [
      'gemini: is made by the permission asked for it',
      [asks({ toolCallId: 'a' }), updates('a', completed)],
      ['a completed'],
    ],
    [
      'is made by the record of a permission, too',
      [['permission.requested', { permission: 'p', toolCall: { toolCallId: 'a' } }]],
      ['a pending'],
    ],
    ['does not run again once it is over', [calls('a', completed), updates('a', running)], ['a completed']],
    ['keeps the first way it ended', [calls('a', failed), updates('a', completed)], ['a failed']],
    [
      'codex: is cancelled if the host closed it with the turn',
      [start('t'), calls('a', running), finish('t', { closedToolCalls: ['a', 'unknown'] })],
      ['a cancelled'],
    ],
    [
      'copilot: is cancelled with its turn, even if nobody says so',
      [start('t'), calls('a'), finish('t', { outcome: 'cancelled' })],
      ['a cancelled'],
    ],
    [
      'is unfinished if its turn ended well',
      [start('t'), calls('a', running), calls('b', completed), finish('t')],
      ['a unfinished', 'b completed'],
    ],
    [
      'opencode: stays as the agent closed it before its turn was cancelled',
      [
        start('t'),
        calls('a'),
        updates('a', completed),
        finish('t', { outcome: 'cancelled', closedToolCalls: ['a'] }),
      ],
      ['a completed'],
    ],
    [
      'takes the last word of its agent even after the turn',
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
      'codex: goes on in the next turn without being another one',
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
      'of an earlier turn is not closed by a later one',
      [calls('before'), start('t'), calls('a'), finish('t')],
      ['before pending', 'a unfinished'],
    ],
    [
      'outside of any turn is unfinished when the session closes',
      [calls('a'), ['session.closed', {}]],
      ['a unfinished'],
    ],
    [
      'is another one if its id comes again in a later turn',
      [start('t'), calls('a', completed), finish('t'), start('u'), calls('a'), updates('a', failed)],
      ['a completed', 'a:5 failed'],
    ],
    [
      'is another one if that begins with an update',
      [start('t'), calls('a', completed), finish('t'), start('u'), updates('a', running), calls('a')],
      ['a completed', 'a:5 in_progress'],
    ],
    [
      'is the same in a later turn while it is not over',
      [calls('a', running), start('t'), calls('a'), updates('a', completed)],
      ['a completed'],
    ],
    ['without an id is none', [calls('')], []],
  ])('%s', (_name, said, entries) => {
    expect(drawn(...said)).toEqual(entries)
  })

  it('takes each field that is told and keeps the others', () => {
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
