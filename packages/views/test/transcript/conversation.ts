import type { EventContext, JournalEvent, JsonObject, JsonValue } from '@vitrine/protocol'
import { event } from '../journal-items.ts'

/** What people do and agents say, without the numbers that the journal gives. */
export type Said = readonly [type: string, data: JsonObject, context?: EventContext]

/** The events of a session `ses_1`, numbered from 1. */
export function conversation(...said: readonly Said[]): JournalEvent[] {
  return said.map(([type, data, context], index) =>
    event(index + 1, type, data, { session: 'ses_1', ...context }),
  )
}

export const start = (turn: string, prompt: JsonValue = [text(`prompt of ${turn}`)]): Said => [
  'turn.started',
  { index: 0, prompt },
  { turn },
]

export const finish = (turn: string, more: JsonObject = {}): Said => [
  'turn.finished',
  { outcome: 'ok', stopReason: 'end_turn', ...more },
  { turn },
]

export const text = (said: string) => ({ type: 'text', text: said })

export const update = (sessionUpdate: string, fields: JsonObject = {}, more: JsonObject = {}): Said => [
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

export const says = (said: string, messageId?: string): Said =>
  update('agent_message_chunk', { content: text(said), ...(messageId && { messageId }) })

export const thinks = (said: string): Said => update('agent_thought_chunk', { content: text(said) })

export const calls = (toolCallId: string, more: JsonObject = {}): Said =>
  update('tool_call', { toolCallId, title: `call ${toolCallId}`, ...more })

export const updates = (toolCallId: string, more: JsonObject = {}): Said =>
  update('tool_call_update', { toolCallId, ...more })

export const asks = (toolCall: JsonObject): Said => [
  'agent.message',
  { direction: 'out', message: { id: 7, method: 'session/request_permission', params: { toolCall } } },
]
