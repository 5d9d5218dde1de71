import type * as z from 'zod/mini'
import { VitrineError } from '../errors/vitrine-error.ts'
import { eventCatalogue, isDesktopEventType, isEventType } from './catalogue.ts'
import { type EventInput, eventEnvelope, type JournalEvent } from './envelope.ts'

const contextFields = ['actor', 'sandbox', 'session', 'run', 'turn', 'operation'] as const

/** Refuses an event of ours that is malformed, with the field's path and what was expected there. */
export function checkEventInput(input: EventInput, index = 0): void {
  const at = `events[${index}]`
  if (typeof input !== 'object' || input === null) {
    throw invalid(at, 'an object with type and data', input)
  }
  if (typeof input.type !== 'string') throw invalid(`${at}.type`, 'a text', input.type)
  for (const field of contextFields) {
    const value = input[field]
    if (value !== undefined && (typeof value !== 'string' || value === '')) {
      throw invalid(`${at}.${field}`, 'a text that is not empty', value)
    }
  }
  if (!isEventType(input.type)) {
    if (isDesktopEventType(input.type)) return
    throw new VitrineError(
      'event_type_unknown',
      `${at}.type: "${input.type}" is not an event type of Vitrine.`,
      {
        details: { path: `${at}.type`, got: input.type },
      },
    )
  }
  const checked = eventCatalogue[input.type].safeParse(input.data ?? {})
  if (!checked.success) {
    const issue = checked.error.issues[0]
    throw invalid(issuePath(`${at}.data`, issue), expectation(issue), input.data, issue)
  }
}

/**
 * Takes an event that came over the wire. The envelope must hold; `data` of a type this version
 * does not know passes through untouched.
 */
export function parseEvent(value: unknown): JournalEvent {
  const parsed = eventEnvelope.safeParse(value)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    throw invalid(issuePath('event', issue), expectation(issue), value, issue)
  }
  return value as JournalEvent
}

type Issue = z.core.$ZodIssue | undefined

function issuePath(start: string, issue: Issue): string {
  return (issue?.path ?? []).reduce<string>(
    (path, key) => (typeof key === 'number' ? `${path}[${key}]` : `${path}.${String(key)}`),
    start,
  )
}

function expectation(issue: Issue): string {
  if (issue === undefined) return 'a valid event'
  switch (issue.code) {
    case 'invalid_type':
      return issue.expected
    case 'invalid_value':
      return `one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}`
    case 'too_small':
      return `at least ${issue.minimum}`
    case 'too_big':
      return `at most ${issue.maximum}`
    case 'invalid_format':
      return `a text like ${issue.pattern ?? issue.format}`
    case 'invalid_union':
      return issue.errors.map((errors) => expectation(errors[0])).join(' or ')
    default:
      return issue.message || 'another value'
  }
}

function invalid(path: string, expected: string, value: unknown, issue?: Issue): VitrineError {
  const got = describe(issue ? valueAt(value, issue.path) : value)
  return new VitrineError('event_invalid', `${path}: expected ${expected}, got ${got}.`, {
    details: { path, expected, got },
  })
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined),
    value,
  )
}

/** The kind of a value only: an error text must not carry what the event would have. */
function describe(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
