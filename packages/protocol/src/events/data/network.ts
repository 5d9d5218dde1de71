import * as z from 'zod/mini'
import { lazily } from '../../lazy.ts'
import { count, milliseconds } from './shared.ts'

const connection = () =>
  z.looseObject({
    /** The same id in all events of a connection. */
    connection: z.optional(z.string()),
    host: z.string(),
    port: z.int().check(z.gte(0), z.lte(65_535)),
    /** The resolved address. */
    address: z.optional(z.string()),
    /** Bytes sent to the sandbox. */
    bytesIn: z.optional(count()),
    /** Bytes received from the sandbox. */
    bytesOut: z.optional(count()),
    durationMs: z.optional(milliseconds()),
    process: z.optional(z.string()),
  })

export const networkData = lazily({
  /** Written before the connection is made, and again with byte counts when it closes. */
  'network.allowed': () =>
    z.extend(connection(), {
      phase: z.optional(z.enum(['opened', 'closed'])),
      reason: z.optional(z.string()),
    }),
  /** The connection could not be made; `network.allowed` with `closed` follows. */
  'network.failed': () => z.extend(connection(), { error: z.string() }),
  'network.refused': () =>
    z.extend(connection(), {
      reason: z.string(),
      /** The `egress` entry that would allow the target. */
      allow: z.optional(z.string()),
    }),
})
