import type { JsonValue } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { listTranscript, rebuild, transcriptView } from '../../src/index.ts'
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

const echoes = (content: string): TestEvent => update('user_message_chunk', { content: text(content) })

/** One line for each entry: u for the user, a for the assistant, t for a thought. */
function entryLines(...events: readonly TestEvent[]): string[] {
  return listTranscript(rebuild(transcriptView(), conversation(...events))).map((entry) => {
    if (entry.kind === 'message') return `${entry.role[0]} ${entry.text}`
    return entry.kind === 'thought' ? `t ${entry.text}` : `${entry.kind} ${entry.id}`
  })
}

describe('messages of a transcript', () => {
  it.each<[string, TestEvent[], string[]]>([
    ['chunks of one kind are one message', [says('a'), says('b')], ['a ab']],
    ['a thought in between ends a message', [says('a'), thinks('b'), says('c')], ['a a', 't b', 'a c']],
    [
      'a tool call in between ends a message',
      [says('a'), calls('x'), says('b')],
      ['a a', 'toolCall x', 'a b'],
    ],
    [
      'the end of a tool call in between ends a message',
      [calls('x'), says('a'), updates('x', { status: 'completed' }), says('b')],
      ['toolCall x', 'a a', 'a b'],
    ],
    [
      'a message with a messageId continues after a tool call was updated',
      [calls('x'), says('a', 'm'), updates('x', { status: 'completed' }), says('b', 'm')],
      ['toolCall x', 'a ab'],
    ],
    [
      'a message with a messageId also ends when a new entry appears',
      [says('a', 'm'), calls('x'), says('b', 'm')],
      ['a a', 'toolCall x', 'a b'],
    ],
    ['another messageId starts another message', [says('a', 'm'), says('b', 'n')], ['a a', 'a b']],
    [
      'a plan in between ends a message',
      [says('a'), update('plan', { entries: [{ content: 'x' }] }), says('b')],
      ['a a', 'a b'],
    ],
    [
      'updates that are not displayed do not end a message',
      [
        says('a'),
        update('usage_update', { used: 1 }),
        update('session_info_update', { title: 'x' }),
        update('available_commands_update', { availableCommands: [] }),
        update('current_mode_update', { currentModeId: 'x' }),
        update('notice', { title: 'x', severity: 'info' }),
        update('compaction_update', { compactionId: 'x', status: 'completed' }),
        update('compaction_summary_chunk', { compactionId: 'x', content: text('x') }),
        update('subagent_update', { sessionId: 'x', title: 'x' }),
        update('newer_kind', { content: text('x') }),
        says('b'),
      ],
      ['a ab'],
    ],
    ['an empty chunk adds no message', [says('')], []],
    [
      'the end of a turn ends a message',
      [start('t1'), says('a'), finish('t1'), says('b')],
      ['u prompt of t1', 'a a', 'a b'],
    ],
    [
      "the agent's echo of the prompt is not a second message, nor an interruption",
      [start('t1'), echoes('prompt of t1'), says('a'), echoes('prompt of t1'), says('b')],
      ['u prompt of t1', 'a ab'],
    ],
    [
      'a user message outside of a turn is a message of another client',
      [echoes('h'), echoes('i'), says('yo')],
      ['u hi', 'a yo'],
    ],
    [
      'a replayed message is not added again',
      [says('a'), update('agent_message_chunk', { content: text('a') }, { replay: true }), says('b')],
      ['a ab'],
    ],
    [
      'a message to the agent is not a message of the agent',
      [['agent.message', { direction: 'in', message: says('x')[1].message as JsonValue }]],
      [],
    ],
    ['a turn starts once', [start('t1'), start('t1', [text('again')])], ['u prompt of t1']],
  ])('%s', (_name, events, entries) => {
    expect(entryLines(...events)).toEqual(entries)
  })

  it.each<[string, JsonValue, unknown]>([
    ['texts', [text('one'), text('two')], { text: 'one\ntwo' }],
    ['a plain string', 'one', { text: 'one' }],
    [
      'a link between texts',
      [text('See'), { type: 'resource_link', uri: 'file:///a', name: 'a', size: 3 }, text('please')],
      {
        text: 'See\nplease',
        attachments: [{ type: 'resource_link', uri: 'file:///a', name: 'a', bytes: 3 }],
      },
    ],
    [
      'a summarised image',
      [{ type: 'image', mimeType: 'image/png', bytes: 9 }],
      { text: '', attachments: [{ type: 'image', mimeType: 'image/png', bytes: 9 }] },
    ],
    [
      'an image with its bytes, which are only counted',
      [{ type: 'image', mimeType: 'image/png', data: 'AAEC' }],
      { text: '', attachments: [{ type: 'image', mimeType: 'image/png', bytes: 3 }] },
    ],
    [
      'a text that is stored as a blob',
      [{ type: 'text', text: { blob: 'sha256:1', bytes: 70_000 } }],
      { text: '', attachments: [{ type: 'text', blob: 'sha256:1', bytes: 70_000 }] },
    ],
    [
      'a blob reference',
      { blob: 'sha256:1', bytes: 2_000_000 },
      { text: '', attachments: [{ type: 'blob', blob: 'sha256:1', bytes: 2_000_000 }] },
    ],
  ])('a prompt may be %s', (_name, prompt, message) => {
    const entries = listTranscript(rebuild(transcriptView(), conversation(start('t1', prompt))))
    expect(entries).toMatchObject([message as object])
  })
})
