import * as z from 'zod/mini'
import { lazily } from '../../lazy.ts'
import { count, errorFields, longText } from './shared.ts'

/** Events about the journal itself, its host and its sinks. */
export const recordData = lazily({
  /** Open work of a dead owner was closed as `interrupted`. */
  'journal.recovered': () =>
    z.looseObject({
      reason: z.string(),
      closed: z.array(z.looseObject({ kind: z.string(), id: z.string(), startedAt: count() })),
    }),
  'journal.trimmed': () =>
    z.looseObject({
      from: count(),
      to: count(),
      events: count(),
      bytes: count(),
      reason: z.enum(['events', 'bytes', 'age', 'requested']),
    }),
  'sink.failed': () => z.looseObject({ sink: z.string(), ...errorFields() }),
  'sink.recovered': () => z.looseObject({ sink: z.string(), failedForMs: z.optional(z.number()) }),
  'host.started': () => z.looseObject({ version: z.optional(z.string()) }),
  'host.stopped': () => z.looseObject({ reason: z.optional(z.string()) }),
  'limit.reached': () => z.looseObject({ limit: z.string(), max: z.number() }),
  'log.message': () =>
    z.looseObject({
      level: z.enum(['debug', 'info', 'warn', 'error']),
      message: longText(),
    }),
  /** An event of another system, in any shape. */
  'foreign.event': () => z.looseObject({ type: z.string(), id: z.optional(z.string()), data: z.unknown() }),
})
