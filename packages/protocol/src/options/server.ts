import * as z from 'zod/mini'
import { lazily } from '../lazy.ts'
import { hostOptions } from './host.ts'
import { strict } from './strict.ts'
import { callable, flag, having, milliseconds, optionally, texts, whole } from './values.ts'

/** The guard checks a token's characters, with an error that does not repeat it. */
const token = () => strict({ name: z.string(), access: z.enum(['read', 'full']), token: z.string() })

export const serverOptions = lazily({
  create: () =>
    strict({
      host: having<{ create(...given: never): unknown; list(...given: never): unknown }>(
        'the value that `openHost` returns',
        'create',
        'list',
      ),
      tokens: z.array(token()),
      allowAnonymous: z.optional(flag()),
      defaultSandbox: optionally(() => hostOptions.create),
      cors: z.optional(texts()),
      allowHosts: z.optional(texts()),
      onRequest: z.optional(callable()),
      limits: optionally(() =>
        strict({
          jsonBytes: z.optional(whole(1)),
          heartbeatMs: z.optional(milliseconds()),
          stallMs: z.optional(milliseconds()),
          keepAliveMs: z.optional(milliseconds()),
          tokenMs: z.optional(milliseconds()),
        }),
      ),
    }),
  listen: () =>
    strict({
      hostname: z.optional(z.string()),
      port: z.optional(whole(0, 65_535)),
      maxConnections: z.optional(whole(1)),
      headersMs: z.optional(milliseconds()),
      bodyIdleMs: z.optional(milliseconds()),
    }),
})
