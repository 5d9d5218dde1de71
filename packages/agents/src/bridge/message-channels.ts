import { createHash } from 'node:crypto'
import type { EventInput } from '@vitrine/protocol'

/** A longer id is hashed, because channels are kept in memory. */
const maxIdLength = 100

/**
 * The channels of an event from an agent. Its sessions, messages, thoughts and tool calls are written at the same time,
 * so the next part of a text may come after parts of others. The agent chooses the ids, so a text may also continue
 * under another id or as another kind of update of its session.
 */
export function messageChannels({ type, data, session }: EventInput): readonly string[] {
  if (type !== 'agent.message') return [channel(type, session)]
  const params = fieldOf(fieldOf(data, 'message'), 'params')
  const update = fieldOf(params, 'update')
  const sessionId = fieldOf(params, 'sessionId')
  const kind = fieldOf(update, 'sessionUpdate')
  const ids = ['messageId', 'toolCallId'].map((name) => fieldOf(update, name))
  const channels = [channel(type, sessionId)]
  if (kind !== undefined) channels.push(channel(type, sessionId, kind))
  if (ids.some((id) => id !== undefined)) channels.push(channel(type, sessionId, kind, ...ids))
  return channels
}

function channel(...keys: readonly unknown[]): string {
  return JSON.stringify(keys.map((key) => (typeof key === 'string' ? shortened(key) : '')))
}

function shortened(id: string): string {
  return id.length > maxIdLength ? createHash('sha256').update(id).digest('base64url') : id
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
