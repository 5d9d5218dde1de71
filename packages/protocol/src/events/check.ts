import type * as z from 'zod/mini'
import { VitrineError } from '../errors/vitrine-error.ts'
import { expectation, fieldPath, kindOf, valueAt } from '../expectation.ts'
import { type EventType, eventCatalogue, isDesktopEventType, isEventType } from './catalogue.ts'
import { hasTooManyValues, maxEventValues } from './count-values.ts'
import { type EventInput, eventEnvelope, type JournalEvent } from './envelope.ts'

// Looked up for every event, and a Map is faster than an object of this size.
const schemas = new Map<string, (typeof eventCatalogue)[EventType]>()

function schemaOf(type: string): (typeof eventCatalogue)[EventType] | undefined {
  const known = schemas.get(type)
  if (known !== undefined || !isEventType(type)) return known
  schemas.set(type, eventCatalogue[type])
  return eventCatalogue[type]
}

/** Rejects a malformed event input; the error has the field's path and the expected value. */
export function checkEventInput(input: EventInput, index = 0): void {
  if (typeof input !== 'object' || input === null)
    throw invalid(pathOf(index), 'an object with type and data', input)
  if (typeof input.type !== 'string') throw invalid(pathOf(index, 'type'), 'a string', input.type)
  const { caller, actor, sandbox, session, run, turn, operation, trace } = input
  if (caller !== undefined) checkId(caller, index, 'caller')
  if (actor !== undefined) checkId(actor, index, 'actor')
  if (sandbox !== undefined) checkId(sandbox, index, 'sandbox')
  if (session !== undefined) checkId(session, index, 'session')
  if (run !== undefined) checkId(run, index, 'run')
  if (turn !== undefined) checkId(turn, index, 'turn')
  if (operation !== undefined) checkId(operation, index, 'operation')
  if (trace !== undefined) checkTrace(pathOf(index, 'trace'), trace)
  const schema = schemaOf(input.type)
  if (schema === undefined && !isDesktopEventType(input.type))
    throw unknownType(pathOf(index, 'type'), input.type)
  const data: unknown = input.data ?? {}
  if (!isFields(data)) throw invalid(pathOf(index, 'data'), 'a plain object', data)
  if (hasTooManyValues(data)) throw tooManyValues(pathOf(index, 'data'))
  const checked = schema?.safeParse(data)
  if (checked?.success === false)
    throw invalidField(pathOf(index, 'data'), checked.error.issues[0], input.data)
}

function pathOf(index: number, field?: string): string {
  return field === undefined ? `events[${index}]` : `events[${index}].${field}`
}

function checkId(value: unknown, index: number, field: string): void {
  if (typeof value !== 'string' || value === '' || !value.isWellFormed())
    throw invalid(pathOf(index, field), 'a non-empty string without lone surrogates', value)
}

const traceForm = { traceId: /^[0-9a-f]{32}$/, spanId: /^[0-9a-f]{16}$/, parentSpanId: /^[0-9a-f]{16}$/ }

/** Accepts only span and trace ids: they are not redacted, so no other text may pass. */
function checkTrace(path: string, trace: unknown): void {
  if (!isFields(trace)) throw invalid(path, 'an object with traceId and spanId', trace)
  for (const [field, form] of Object.entries(traceForm)) {
    const id: unknown = Reflect.get(trace, field)
    if (id === undefined && field === 'parentSpanId') continue
    if (typeof id !== 'string' || !form.test(id))
      throw invalid(`${path}.${field}`, `a string like ${form}`, id)
  }
}

/** Whether a value serialises as a JSON object; a date, bytes or an array would not. */
function isFields(value: unknown): value is object {
  return (
    typeof value === 'object' &&
    value !== null &&
    (Object.getPrototypeOf(value) === Object.prototype ||
      Object.prototype.toString.call(value) === '[object Object]') &&
    typeof Reflect.get(value, 'toJSON') !== 'function'
  )
}

const shownType = 64

function unknownType(path: string, type: string): VitrineError {
  const got = type.length > shownType ? `${type.slice(0, shownType)}…` : type
  return new VitrineError('event_type_unknown', `${path}: expected an event type of Vitrine, got "${got}".`, {
    details: { path, expected: 'an event type of Vitrine', got },
  })
}

/**
 * Parses an event from the wire. Only the envelope is checked: the writer has checked `data`, and a newer version may
 * have fields that this one does not know.
 */
export function parseEvent(value: unknown): JournalEvent {
  const parsed = eventEnvelope.safeParse(value)
  if (!parsed.success) throw invalidField('event', parsed.error.issues[0], value)
  return value as JournalEvent
}

type Issue = z.core.$ZodIssue | undefined

/** The message has only the kind of the value, since the value itself would not be redacted. */
function invalid(path: string, expected: string, value: unknown, issue?: Issue): VitrineError {
  const got = kindOf(issue ? valueAt(value, issue.path) : value)
  return new VitrineError('event_invalid', `${path}: expected ${expected}, got ${got}.`, {
    details: { path, expected, got },
  })
}

function tooManyValues(path: string): VitrineError {
  const expected = `at most ${maxEventValues} values in objects and arrays`
  return new VitrineError('event_invalid', `${path}: expected ${expected}, got more.`, {
    details: { path, expected, limit: maxEventValues },
  })
}

function invalidField(start: string, issue: Issue, value: unknown): VitrineError {
  return issue === undefined
    ? invalid(start, 'a valid event', value)
    : invalid(fieldPath(start, issue.path), expectation(issue), value, issue)
}
