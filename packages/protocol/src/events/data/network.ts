import * as z from 'zod/mini'
import { count } from './shared.ts'

const connection = z.looseObject({
  host: z.string(),
  port: z.int().check(z.gte(0), z.lte(65_535)),
  bytesIn: z.optional(count),
  bytesOut: z.optional(count),
  process: z.optional(z.string()),
})

export const networkData = {
  'network.allowed': connection,
  'network.refused': z.extend(connection, { reason: z.string() }),
}
