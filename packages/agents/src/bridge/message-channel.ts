import type { EventInput } from '@vitrine/protocol'

/**
 * The channel of an event from an agent. An agent's sessions, its messages, thoughts and tool calls are written at the
 * same time, so the next part of a text may come after parts of others.
 */
export function messageChannel({ type, data, session }: EventInput): string {
  if (type !== 'agent.message') return JSON.stringify([type, session ?? ''])
  const params = fieldOf(fieldOf(data, 'message'), 'params')
  const update = fieldOf(params, 'update')
  const keys = [
    fieldOf(params, 'sessionId'),
    ...['sessionUpdate', 'messageId', 'toolCallId'].map((name) => fieldOf(update, name)),
  ]
  return JSON.stringify([type, ...keys.map((key) => (typeof key === 'string' ? key : ''))])
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
