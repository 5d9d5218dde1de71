import * as z from 'zod/mini'
import { lazily } from '../lazy.ts'
import { strict } from './strict.ts'
import { callable, isObject, milliseconds, signal, text, texts } from './values.ts'

/** Options of functions that use the cache of installed agents without a host. */
export const agentOptions = lazily({
  install: () =>
    strict({
      cache: text(),
      version: z.optional(z.string()),
      onProgress: z.optional(callable()),
      onObserverError: z.optional(callable()),
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
      // Not a zod record: `process.env` is not a plain object.
      env: z.optional(z.custom<Readonly<Record<string, string | undefined>>>(isObject, 'expected an object')),
      home: z.optional(z.string()),
    }),
})
