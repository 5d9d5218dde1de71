import type { EventContext, EventSource, JournalEvent, JsonObject } from '@vitrine/protocol'
import { deepFreeze, Entry } from '../entry.ts'
import { chain } from '../integrity/chain.ts'

/** A context and its JSON inside the body. Events that are appended together mostly share one. */
export interface EncodedContext {
  readonly fields: EventContext
  readonly json: string
}

export function encodeContext(fields: EventContext): EncodedContext {
  let json = ''
  for (const key in fields) json += `,"${key}":${JSON.stringify(fields[key as keyof EventContext])}`
  return { fields, json }
}

/** An event that is checked, redacted and serialised, but has no `seq`, position and hash yet. */
export interface EventDraft {
  readonly type: string
  readonly source: EventSource
  readonly context: EncodedContext
  readonly derived: boolean
  readonly data: JsonObject
  readonly dataJson: string
}

/** Assigns `seq`, position and hash. The body has the event's key order, so that re-encoding gives the same bytes. */
export function encode(
  { type, source, context, derived, data, dataJson }: EventDraft,
  position: number,
  journal: string,
  seq: number,
  time: number,
  previousHash: string,
): Entry {
  const iso = isoTime(time)
  // Journal ids, types and sources contain no characters that JSON escapes.
  let body = `{"journal":"${journal}","seq":${seq},"time":"${iso}","type":"${type}","source":"${source}"`
  const event: Record<string, unknown> = { journal, seq, time: iso, type, source, ...context.fields }
  body += context.json
  if (derived) {
    body += ',"derived":true'
    event.derived = true
  }
  event.data = data
  body += `,"data":${dataJson}}`
  const hash = chain(previousHash, body)
  // The fields were set one by one above, in the order of the body.
  return new Entry(position, journal, seq, hash, body, deepFreeze(event) as unknown as JournalEvent)
}

let lastTime = 0
let lastIso = ''

/** Caches the last conversion, because many events share a millisecond. */
function isoTime(time: number): string {
  if (time !== lastTime) {
    lastTime = time
    lastIso = new Date(time).toISOString()
  }
  return lastIso
}
