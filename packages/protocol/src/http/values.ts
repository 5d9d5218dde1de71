import * as z from 'zod/mini'
import { outcomes } from '../events/data/shared.ts'
import { strict } from '../options/strict.ts'

/** A boolean in a query, where every value is a string. */
export const flag = () =>
  z.pipe(
    z.enum(['true', 'false', '1', '0', '']),
    z.transform((text) => text !== 'false' && text !== '0'),
  )
export const count = () =>
  z.pipe(z.string().check(z.regex(/^\d{1,15}$/, 'expected a whole number, as digits')), z.transform(Number))
/** Permission bits as octal digits. */
export const modeText = () =>
  z.pipe(
    z.string().check(z.regex(/^[0-7]{1,4}$/, 'expected octal digits, such as 644')),
    z.transform((text) => Number.parseInt(text, 8)),
  )
/** A comma-separated list: `a,b`. */
export const commaSeparated = () =>
  z.pipe(
    z.string(),
    z.transform((text) => text.split(',').filter((part) => part !== '')),
  )

/**
 * Makes a read a call of the sandbox: with its answer as it is and not masked as events are, as an operation where it is
 * one, starting the sandbox if needed, and with full access only.
 */
export const live = () => z.optional(flag())

export const outcome = () => z.enum(outcomes)
export const texts = () => z.record(z.string(), z.string())
export const command = () => z.union([z.string(), z.array(z.string())])
export const shell = () => z.union([z.boolean(), z.string(), z.array(z.string())])
export const input = () =>
  strict({
    data: z.string(),
    /** `text` is an alias of `utf8`. */
    encoding: z.optional(z.enum(['utf8', 'text', 'base64'])),
    /** Close the input after this data. */
    end: z.optional(z.boolean()),
  })
