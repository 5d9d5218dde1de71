import * as z from 'zod/mini'

// Every schema is loose: a field of a newer version passes through untouched.

export const outcomes = ['ok', 'failed', 'cancelled', 'timeout', 'interrupted'] as const

/** The outcome of work that has ended. */
export type Outcome = (typeof outcomes)[number]

export const outcome = () => z.enum(outcomes)

export const count = () => z.int().check(z.nonnegative())

export const milliseconds = () => z.number().check(z.nonnegative())

export const encoding = () => z.enum(['utf8', 'base64'])

export const blobHash = () => z.string().check(z.regex(/^sha256:[0-9a-f]{64}$/))

/** A reference to bytes in the store, used for a large field or the content of a changed file. */
export const blobRef = () =>
  z.looseObject({
    blob: blobHash(),
    bytes: count(),
    mediaType: z.optional(z.string()),
    redacted: z.optional(z.literal(true)),
  })

/** A string, or a reference to the blob that stores one over 64 KiB. */
export const longText = () => z.union([z.string(), blobRef()])

/** The error fields of every event that ends work. */
export const errorFields = () => ({
  errorType: z.optional(z.string()),
  errorCode: z.optional(z.string()),
  errorMessage: z.optional(longText()),
  retryable: z.optional(z.union([z.boolean(), z.literal('unknown')])),
})

/** `exitCode` and `signal` are null if they were not observed. */
export const exitFields = () => ({
  exitCode: z.optional(z.nullable(z.int())),
  signal: z.optional(z.nullable(z.string())),
})
