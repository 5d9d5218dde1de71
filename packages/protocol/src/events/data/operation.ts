import * as z from 'zod/mini'
import { lazily } from '../../lazy.ts'
import { count, errorFields, exitFields, longText, milliseconds, outcome } from './shared.ts'

/** What was asked of a sandbox, in the words that spans use too: `sandbox.<op>`. */
const op = z.string().check(z.regex(/^[a-z][a-z0-9_]*$/))

export const operationData = lazily({
  'operation.started': () =>
    z.looseObject({
      op,
      parent: z.optional(z.string()),
      /** What it is about, for whichever of these it has. */
      argv: z.optional(z.array(longText)),
      command: z.optional(z.union([longText, z.array(longText)])),
      path: z.optional(z.string()),
      port: z.optional(count),
    }),
  'operation.progress': () => z.looseObject({ op }),
  'operation.finished': () =>
    z.looseObject({
      op,
      parent: z.optional(z.string()),
      outcome,
      ok: z.boolean(),
      /** Absent where no one measured it: after a crash. */
      durationMs: z.optional(milliseconds),
      ...errorFields,
      ...exitFields,
      stdout: z.optional(longText),
      stderr: z.optional(longText),
      bytes: z.optional(count),
    }),
})
