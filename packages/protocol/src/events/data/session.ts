import * as z from 'zod/mini'
import { count, errorFields, milliseconds, outcome } from './shared.ts'

export const sessionData = {
  'session.created': z.looseObject({ agent: z.string() }),
  'session.updated': z.looseObject({}),
  'session.closed': z.looseObject({ reason: z.optional(z.string()) }),
  'turn.started': z.looseObject({ index: z.optional(count) }),
  'turn.finished': z.looseObject({
    outcome,
    /** The agent's own word for why it stopped; absent when it never said one. */
    stopReason: z.optional(z.string()),
    durationMs: z.optional(milliseconds),
    ...errorFields,
  }),
  'permission.requested': z.looseObject({ permission: z.string() }),
  'permission.resolved': z.looseObject({ permission: z.string(), outcome, answer: z.optional(z.string()) }),
  'question.requested': z.looseObject({ question: z.string() }),
  'question.resolved': z.looseObject({ question: z.string(), outcome }),
}
