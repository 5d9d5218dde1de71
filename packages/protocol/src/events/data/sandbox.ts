import * as z from 'zod/mini'
import { lazily } from '../../lazy.ts'
import { errorFields } from './shared.ts'

export const sandboxData = lazily({
  'sandbox.created': () => z.looseObject({ provider: z.string(), root: z.optional(z.string()) }),
  'sandbox.ready': () => z.looseObject({}),
  /** A requested or default feature is not available on this machine. */
  'sandbox.degraded': () => z.looseObject({ feature: z.string(), reason: z.string() }),
  'sandbox.paused': () => z.looseObject({}),
  'sandbox.resumed': () => z.looseObject({}),
  'sandbox.stopped': () => z.looseObject({ reason: z.optional(z.string()) }),
  'sandbox.destroyed': () => z.looseObject({ reason: z.optional(z.string()) }),
  'sandbox.failed': () => z.looseObject(errorFields()),
})
