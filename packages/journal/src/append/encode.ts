import type { EventContext, EventSource, JournalEvent, JsonObject } from '@vitrine/protocol'
import { deepFreeze, Entry } from '../entry.ts'
import { chain } from '../integrity/chain.ts'

/** An event that is checked, redacted and serialised, but has no place yet. */
export interface Draft {
  readonly type: string
  readonly source: EventSource
  readonly context: EventContext
  readonly derived: boolean
  /** When it happened, in milliseconds since the epoch. */
  readonly time: number
  readonly data: JsonObject
  readonly dataJson: string
}

export interface Place {
  readonly position: number
  readonly journal: string
  readonly seq: number
  readonly time: number
  readonly previousHash: string
}

/** Gives a draft its place. The body's key order is the event's: parsing and writing it again gives the same bytes. */
export function encode(draft: Draft, { position, journal, seq, time, previousHash }: Place): Entry {
  const { type, source, context, derived, data, dataJson } = draft
  const iso = isoTime(time)
  const body = `{"journal":${JSON.stringify(journal)},"seq":${seq},"time":"${iso}","type":"${type}","source":"${source}"${contextJson(
    context,
  )}${derived ? ',"derived":true' : ''},"data":${dataJson}}`
  const event: JournalEvent = deepFreeze({
    journal,
    seq,
    time: iso,
    type,
    source,
    ...context,
    ...(derived && { derived: true as const }),
    data,
  })
  const hash = chain(previousHash, body)
  return new Entry(
    position,
    journal,
    seq,
    time,
    type,
    context.session ?? null,
    context.run ?? null,
    hash,
    body,
    event,
  )
}

function contextJson(context: EventContext): string {
  let json = ''
  for (const key in context) json += `,"${key}":${JSON.stringify(context[key as keyof EventContext])}`
  return json
}

let lastTime = 0
let lastIso = ''

/** Many events share a millisecond. */
function isoTime(time: number): string {
  if (time !== lastTime) {
    lastTime = time
    lastIso = new Date(time).toISOString()
  }
  return lastIso
}
