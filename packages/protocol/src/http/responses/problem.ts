import * as z from 'zod/mini'
import { component } from '../../component.ts'
import { jsonObject } from '../../options/values.ts'

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()])

/** One detail of an error: a value, an array of values, or an object such as the data of an agent's error. */
const detail = component('ProblemDetail', () => z.union([scalar, z.array(scalar), jsonObject]))

/** An error as every route sends it: RFC 9457 `application/problem+json`. */
export const problem = component('Problem', () =>
  z.object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    /** For people. */
    detail: z.string(),
    /** For programs. */
    code: z.string(),
    retryable: z.union([z.boolean(), z.literal('unknown')]),
    /** How to correct the error. */
    hint: z.string(),
    details: z.exactOptional(z.record(z.string(), detail())),
  }),
)
