import * as z from 'zod/mini'
import type { JsonObject } from '../json.ts'
import { lazily } from '../lazy.ts'
import { type ErrorCode, errorEntry } from './registry.ts'
import { toVitrineError, VitrineError } from './vitrine-error.ts'

/** An error on the wire: RFC 9457 `application/problem+json`. */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: string
  readonly retryable: boolean | 'unknown'
  readonly hint: string
  readonly details?: JsonObject
}

const schemas = lazily({
  problem: () =>
    z.looseObject({
      code: z.string(),
      detail: z.optional(z.string()),
      title: z.optional(z.string()),
      status: z.optional(z.number()),
      retryable: z.optional(z.union([z.boolean(), z.literal('unknown')])),
      hint: z.optional(z.string()),
      details: z.optional(z.record(z.string(), z.json())),
    }),
})

/** Converts an error to its wire form, without its cause and stack. */
export function toProblem(thrown: unknown): Problem {
  const error = toVitrineError(thrown)
  return {
    type: `urn:vitrine:error:${error.code}`,
    title: error.code.replaceAll('_', ' '),
    status: error.status,
    detail: error.message,
    code: error.code,
    retryable: error.retryable,
    hint: error.hint,
    ...(Object.keys(error.details).length > 0 && { details: error.details }),
  }
}

/** Restores the error from its wire form; an unknown code of a newer version keeps its name, status and hint. */
export function fromProblem(problem: unknown): VitrineError {
  const parsed = schemas.problem.safeParse(problem)
  if (!parsed.success) {
    return new VitrineError('internal', 'Expected an error as application/problem+json with a code.', {
      cause: problem,
    })
  }
  const { code, detail, title, status, retryable, hint, details } = parsed.data
  const known = errorEntry(code)
  const error = new VitrineError(code as ErrorCode, detail ?? title ?? code, details ? { details } : {})
  return Object.assign(error, {
    status: status ?? known.status,
    retryable: retryable ?? known.retryable,
    hint: hint ?? known.hint,
  })
}
