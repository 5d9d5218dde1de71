import * as z from 'zod/mini'

// Every schema is loose: a field of a newer version passes through untouched.

export const outcomes = ['ok', 'failed', 'cancelled', 'timeout', 'interrupted'] as const

/** How something that started has ended. */
export type Outcome = (typeof outcomes)[number]

export const outcome = z.enum(outcomes)

export const count = z.int().check(z.nonnegative())

export const milliseconds = z.number().check(z.nonnegative())

export const encoding = z.enum(['utf8', 'base64'])

export const blobHash = z.string().check(z.regex(/^sha256:[0-9a-f]{64}$/))

/** A reference to bytes in the store: in place of a large field, or beside a changed file. */
export const blobRef = z.looseObject({
  blob: blobHash,
  bytes: count,
  mediaType: z.optional(z.string()),
  redacted: z.optional(z.literal(true)),
})

/** Text, or the blob that a text over 64 KiB became. */
export const longText = z.union([z.string(), blobRef])

/** What every ending may say about its error. */
export const errorFields = {
  errorType: z.optional(z.string()),
  errorCode: z.optional(z.string()),
  errorMessage: z.optional(longText),
  retryable: z.optional(z.union([z.boolean(), z.literal('unknown')])),
}

/** An exit code was observed, or it is null. */
export const exitFields = {
  exitCode: z.optional(z.nullable(z.int())),
  signal: z.optional(z.nullable(z.string())),
}
