import * as z from 'zod/mini'
import { lazily } from '../../lazy.ts'
import { count, errorFields, exitFields, longText, milliseconds, outcome } from './shared.ts'

/** The name of the operation; its span is called `sandbox.<op>`. */
const op = z.string().check(z.regex(/^[a-z][a-z0-9_]*$/))

export const operationData = lazily({
  'operation.started': () =>
    z.looseObject({
      op,
      parent: z.optional(z.string()),
      /** The arguments of the operation, as far as it has them. */
      argv: z.optional(z.array(longText())),
      command: z.optional(z.union([longText(), z.array(longText())])),
      /** The names of the secrets that the command got as variables. */
      secrets: z.optional(z.array(z.string())),
      path: z.optional(z.string()),
      port: z.optional(count()),
    }),
  'operation.progress': () => z.looseObject({ op }),
  'operation.finished': () =>
    z.looseObject({
      op,
      parent: z.optional(z.string()),
      outcome: outcome(),
      ok: z.boolean(),
      /** Absent after a crash, when it could not be measured. */
      durationMs: z.optional(milliseconds()),
      ...errorFields(),
      ...exitFields(),
      stdout: z.optional(longText()),
      stderr: z.optional(longText()),
      bytes: z.optional(count()),
    }),
})
