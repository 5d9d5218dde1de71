import { type JsonObject, type JsonValue, type Problem, toProblem } from '@vitrine/protocol'

/** Masks a text, as the journal does. */
export type RedactText = (text: string) => string

/** Quoted values in a message are cut after this many characters. */
const maxQuoted = 200
const longQuoted = new RegExp(`\\bgot "((?:[^"\\\\]|\\\\.){${maxQuoted}})(?:[^"\\\\]|\\\\.)+"`, 'g')

/** An error as it leaves the daemon: registered secrets and known forms of tokens are masked, long values are cut. */
export function redactedProblem(error: unknown, redact: RedactText): Problem {
  const { detail, details, ...problem } = toProblem(error)
  return {
    ...problem,
    detail: redact(detail).replace(longQuoted, 'got "$1…"'),
    ...(details && { details: redactedFields(details, redact) }),
  }
}

function redactedFields(fields: JsonObject, redact: RedactText): JsonObject {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, redacted(value, redact)]))
}

function redacted(value: JsonValue | undefined, redact: RedactText): JsonValue | undefined {
  if (typeof value === 'string') return redact(value)
  if (Array.isArray(value)) return value.map((inner: JsonValue) => redacted(inner, redact) ?? null)
  return typeof value === 'object' && value !== null ? redactedFields(value as JsonObject, redact) : value
}
