import * as z from 'zod/mini'
import { lazily } from '../lazy.ts'
import { strict } from './strict.ts'
import { callable, isObject, milliseconds, signal, text, texts } from './values.ts'

/** Agents in a cache of installations, without a host. */
export const agentOptions = lazily({
  install: () =>
    strict({
      cache: text(),
      version: z.optional(z.string()),
      onProgress: z.optional(callable()),
      signal: z.optional(signal()),
      isolation: z.optional(z.enum(['auto', 'bubblewrap', 'none'])),
      egress: z.optional(texts()),
      verifyMs: z.optional(milliseconds()),
      retryMs: z.optional(milliseconds()),
    }),
  list: () =>
    strict({
      cache: text(),
      custom: z.optional(z.array(z.looseObject({ name: z.string() }))),
      // `process.env` is no plain object, which a record of zod would have to be.
      env: z.optional(z.custom<Readonly<Record<string, string | undefined>>>(isObject, 'expected an object')),
      home: z.optional(z.string()),
    }),
})
