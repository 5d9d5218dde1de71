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
  let last: ChannelKeys | undefined
  let channels: readonly string[] = []
  return (event) => {
    const keys = keysOf(event)
    if (last === undefined || !isSame(keys, last)) {
      last = keys
      channels = channelsOf(keys)
    }
    return channels
  }
}

/** The type of an event, its session and, for an update of a session, the kind of the update and its ids. */
interface ChannelKeys {
  readonly type: string
  readonly session: unknown
  readonly kind: unknown
  readonly message: unknown
  readonly toolCall: unknown
}

function keysOf({ type, data, session }: EventInput): ChannelKeys {
  if (type !== 'agent.message')
    return { type, session, kind: undefined, message: undefined, toolCall: undefined }
  const params = fieldsOf(fieldsOf(fieldsOf(data).message).params)
  const update = fieldsOf(params.update)
  return {
    type,
    session: params.sessionId,
    kind: update.sessionUpdate,
    message: update.messageId,
    toolCall: update.toolCallId,
  }
}

function isSame(one: ChannelKeys, other: ChannelKeys): boolean {
  return (
    one.type === other.type &&
    one.session === other.session &&
    one.kind === other.kind &&
    one.message === other.message &&
    one.toolCall === other.toolCall
  )
}

function channelsOf({ type, session, kind, message, toolCall }: ChannelKeys): readonly string[] {
  const channels = [channel(type, session)]
  if (kind !== undefined) channels.push(channel(type, session, kind))
  if (message !== undefined || toolCall !== undefined)
    channels.push(channel(type, session, kind, message, toolCall))
  return channels
}

function channel(...keys: readonly unknown[]): string {
  return JSON.stringify(keys.map((key) => (typeof key === 'string' ? shortened(key) : '')))
}

function shortened(id: string): string {
  return id.length > maxIdLength ? createHash('sha256').update(id).digest('base64url') : id
}

const noFields: Readonly<Record<string, unknown>> = {}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  // Any object may be read by name: a missing field is undefined.
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : noFields
}
