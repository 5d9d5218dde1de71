import type { SessionUpdate } from '@agentclientprotocol/sdk/unstable'
import { expect, it } from 'vitest'
import { addToHistory, replayable } from '../../src/demo/history.ts'

const text = (text: string) => ({ type: 'text' as const, text })

it('stores chunks as messages, and tool calls and plans in their last state', () => {
  const history: SessionUpdate[] = []
  const updates: SessionUpdate[] = [
    { sessionUpdate: 'user_message_chunk', content: text('go') },
    { sessionUpdate: 'plan', entries: [] },
    { sessionUpdate: 'agent_message_chunk', content: text('a'), messageId: '1' },
    { sessionUpdate: 'agent_message_chunk', content: text('b'), messageId: '1' },
    { sessionUpdate: 'agent_message_chunk', content: text('c'), messageId: '2' },
    { sessionUpdate: 'tool_call', toolCallId: 't', title: 'T', kind: 'edit', status: 'pending' },
    { sessionUpdate: 'usage_update', used: 1, size: 2 },
    { sessionUpdate: 'tool_call_update', toolCallId: 't', status: 'completed', title: null },
    { sessionUpdate: 'plan', entries: [{ content: 'x', priority: 'low', status: 'completed' }] },
  ]
  for (const update of updates) addToHistory(history, update)
  expect(history).toEqual([
    updates[0],
    updates[8],
    { sessionUpdate: 'agent_message_chunk', content: text('ab'), messageId: '1' },
    updates[4],
    { sessionUpdate: 'tool_call', toolCallId: 't', title: 'T', kind: 'edit', status: 'completed' },
  ])
})

it('stores no long text, no large block and at most 500 updates', () => {
  const history: SessionUpdate[] = []
  addToHistory(history, { sessionUpdate: 'user_message_chunk', content: text('x'.repeat(1_000_000)) })
  const data = 'A'.repeat(100_000)
  addToHistory(history, {
    sessionUpdate: 'user_message_chunk',
    content: { type: 'image', mimeType: 'image/png', data },
  })
  expect(JSON.stringify(history).length).toBeLessThan(70_000)
  for (let n = 0; n < 1000; n++) {
    addToHistory(history, { sessionUpdate: 'agent_message_chunk', content: text('x'), messageId: String(n) })
  }
  expect(history).toHaveLength(500)
})

it('replays a terminal as the text of its output', () => {
  const update: SessionUpdate = {
    sessionUpdate: 'tool_call',
    toolCallId: 't',
    title: 'T',
    content: [{ type: 'terminal', terminalId: 'gone' }],
    rawOutput: { output: 'shown' },
  }
  expect(replayable(update)).toMatchObject({ content: [{ type: 'content', content: text('shown') }] })
})
