import * as z from 'zod/mini'
import { lazily } from '../../lazy.ts'
import { count, encoding, errorFields, exitFields, longText, milliseconds, outcome } from './shared.ts'

const process = z.string().check(z.minLength(1))

export const processData = lazily({
  'process.started': () =>
    z.looseObject({
      process,
      argv: z.optional(z.array(longText())),
      cwd: z.optional(z.string()),
      pid: z.optional(count()),
      tty: z.optional(z.boolean()),
    }),
  'process.output': () =>
    z.looseObject({
      process,
      stream: z.enum(['stdout', 'stderr', 'terminal']),
      /** Raw bytes of this stream before this chunk, including skipped and masked ones. */
      offset: count(),
      data: longText(),
      encoding: encoding(),
      /** Bytes omitted before this chunk because the limit was reached. */
      skipped: z.optional(count()),
    }),
  'process.exited': () =>
    z.looseObject({
      process,
      outcome: outcome(),
      ...exitFields(),
      ...errorFields(),
      durationMs: z.optional(milliseconds()),
    }),
})
