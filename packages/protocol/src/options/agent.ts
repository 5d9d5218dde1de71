import * as z from 'zod/mini'
import { lazily } from '../lazy.ts'
import { strict } from './strict.ts'
import { callable, milliseconds, signal, text, texts } from './values.ts'

/** Agents in a cache of installations, without a host. */
export const agentOptions = lazily({
  install: () =>
    strict({
      cache: text(),
      version: z.optional(z.string()),
      onProgress: z.optional(callable()),
      signal: z.optional(signal()),
      isolation: z.optional(z.enum(['auto', 'bubblewrap', 'none'])),
      reach: z.optional(texts()),
      verifyMs: z.optional(milliseconds()),
      retryMs: z.optional(milliseconds()),
    }),
  list: () =>
    strict({
      cache: text(),
      custom: z.optional(z.array(z.looseObject({ name: z.string() }))),
      env: z.optional(z.record(z.string(), z.optional(z.string()))),
      home: z.optional(z.string()),
    }),
})
