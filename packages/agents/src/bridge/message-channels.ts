import { createHash } from 'node:crypto'
import type { EventInput } from '@vitrine/protocol'

/** A longer id is hashed, because channels are kept in memory. */
const maxIdLength = 100

/**
 * Returns the channels of an event from an agent. Its sessions, messages, thoughts and tool calls are written at the same
 * time, so the next part of a text may come after parts of others. The agent chooses the ids, so a text may also continue
 * under another id or as another kind of update of its session.
 */
export function messageChannels(): (event: EventInput) => readonly string[] {
  // An agent sends many updates of the same message in a row.
  let lastKeys: readonly unknown[] = []
  let lastChannels: readonly string[] = []
  return (event) => {
    const keys = keysOf(event)
    if (keys.length !== lastKeys.length || keys.some((key, index) => key !== lastKeys[index])) {
      lastKeys = keys
      lastChannels = channelsOf(keys)
    }
    return lastChannels
  }
}

/** The type of an event, its session and, for an update of a session, the kind of the update and its ids. */
function keysOf({ type, data, session }: EventInput): readonly unknown[] {
  if (type !== 'agent.message') return [type, session]
  const params = fieldOf(fieldOf(data, 'message'), 'params')
  const update = fieldOf(params, 'update')
  return [
    type,
    fieldOf(params, 'sessionId'),
    fieldOf(update, 'sessionUpdate'),
    fieldOf(update, 'messageId'),
    fieldOf(update, 'toolCallId'),
  ]
}

function channelsOf([type, session, kind, ...ids]: readonly unknown[]): readonly string[] {
  const channels = [channel(type, session)]
  if (kind !== undefined) channels.push(channel(type, session, kind))
  if (ids.some((id) => id !== undefined)) channels.push(channel(type, session, kind, ...ids))
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
