import * as z from 'zod/mini'
import { lazily } from '../../lazy.ts'
import { count, errorFields, milliseconds, outcome } from './shared.ts'

const finish = () =>
  z.looseObject({ outcome: outcome(), durationMs: z.optional(milliseconds()), ...errorFields() })

export const runtimeData = lazily({
  'run.started': () =>
    z.looseObject({
      name: z.optional(z.string()),
      agent: z.optional(z.string()),
      session: z.optional(z.string()),
      /** The run whose session this one continues. */
      continues: z.optional(z.string()),
    }),
  'run.finished': finish,
  'loop.started': () => z.looseObject({ loop: z.string(), name: z.optional(z.string()) }),
  'loop.planned': () => z.looseObject({ loop: z.string() }),
  'loop.iterated': () => z.looseObject({ loop: z.string(), iteration: count() }),
  'loop.finished': () => z.extend(finish(), { loop: z.string() }),
  'snapshot.created': () => z.looseObject({ snapshot: z.string() }),
  'snapshot.restored': () => z.looseObject({ snapshot: z.string() }),
})
