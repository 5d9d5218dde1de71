import { type EventFilter, type JournalFilter, matchTypes } from '@vitrine/protocol'
import type { Entry } from '../entry.ts'

/** A filter as a predicate on entries in memory, undefined if all match. A store scan applies the same filter. */
export function entryMatcher({
  types,
  session,
  run,
  text,
  journals,
}: EventFilter & JournalFilter): ((entry: Entry) => boolean) | undefined {
  if ([types, session, run, text, journals].every((one) => one === undefined)) return undefined
  const matchesType = matchTypes(types)
  const needle = text === undefined ? undefined : asciiLower(jsonEscape(text))
  return (entry) =>
    (journals === undefined || journals.includes(entry.journal)) &&
    matchesType(entry.event.type) &&
    (session === undefined || entry.event.session === session) &&
    (run === undefined || entry.event.run === run) &&
    (needle === undefined || asciiLower(entry.body).includes(needle))
}

/** Escapes a text as JSON does inside a string: a search runs over the JSON of the events. */
export function jsonEscape(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

function asciiLower(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}
