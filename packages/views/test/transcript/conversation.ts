import type { EventContext, JournalEvent, JsonObject, JsonValue } from '@vitrine/protocol'
import { event } from '../journal-items.ts'

/** An event of a session without the fields that the journal adds. */
export type TestEvent = readonly [type: string, data: JsonObject, context?: EventContext]

/** The events of the session `ses_1`, with `seq` from 1. */
export function conversation(...events: readonly TestEvent[]): JournalEvent[] {
  return events.map(([type, data, context], index) =>
    event(index + 1, type, data, { session: 'ses_1', ...context }),
  )
}

export const start = (turn: string, prompt: JsonValue = [text(`prompt of ${turn}`)]): TestEvent => [
  'turn.started',
  { index: 0, prompt },
  { turn },
]

export const finish = (turn: string, more: JsonObject = {}): TestEvent => [
  'turn.finished',
  { outcome: 'ok', stopReason: 'end_turn', ...more },
  { turn },
]

export const text = (content: string) => ({ type: 'text', text: content })

export const update = (sessionUpdate: string, fields: JsonObject = {}, more: JsonObject = {}): TestEvent => [
  'agent.message',
  {
    direction: 'out',
    message: {
      jsonrpc: '2.0',
      method: 'session/update',
      params: { sessionId: 's', update: { sessionUpdate, ...fields } },
    },
    ...more,
  },
]

export const says = (content: string, messageId?: string): TestEvent =>
  update('agent_message_chunk', { content: text(content), ...(messageId && { messageId }) })

export const thinks = (content: string): TestEvent =>
  update('agent_thought_chunk', { content: text(content) })

export const calls = (toolCallId: string, more: JsonObject = {}): TestEvent =>
  update('tool_call', { toolCallId, title: `call ${toolCallId}`, ...more })

export const updates = (toolCallId: string, more: JsonObject = {}): TestEvent =>
  update('tool_call_update', { toolCallId, ...more })

export const asks = (toolCall: JsonObject): TestEvent => [
  'agent.message',
  { direction: 'out', message: { id: 7, method: 'session/request_permission', params: { toolCall } } },
]
