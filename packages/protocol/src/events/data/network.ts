import * as z from 'zod/mini'
import { lazily } from '../../lazy.ts'
import { count, milliseconds } from './shared.ts'

const connection = z.looseObject({
  /** The same in what was opened and what was closed. */
  connection: z.optional(z.string()),
  host: z.string(),
  port: z.int().check(z.gte(0), z.lte(65_535)),
  /** What the name stood for. */
  address: z.optional(z.string()),
  /** Towards the sandbox. */
  bytesIn: z.optional(count),
  /** From the sandbox. */
  bytesOut: z.optional(count),
  durationMs: z.optional(milliseconds),
  process: z.optional(z.string()),
})

export const networkData = lazily({
  /** Written before anything is dialed, and once more with its bytes when it is over. */
  'network.allowed': () =>
    z.extend(connection, {
      phase: z.optional(z.enum(['opened', 'closed'])),
      reason: z.optional(z.string()),
    }),
  'network.refused': () => z.extend(connection, { reason: z.string() }),
})
