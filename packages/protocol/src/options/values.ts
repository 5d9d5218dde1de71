import * as z from 'zod/mini'
import type { JsonObject } from '../json.ts'
import { longestTimer } from '../primitives/time-limit.ts'
import { wholeNumberWithin } from '../primitives/whole-number.ts'
import type { ByteStream } from '../sandbox/files.ts'

/** A whole number within bounds. */
export function whole(least = 0, most = Number.MAX_SAFE_INTEGER) {
  const message = `expected ${wholeNumberWithin(least, most)}`
  return z.int(message).check(z.minimum(least, message), z.maximum(most, message))
}

/** A time in milliseconds that fits a timer. */
export const milliseconds = (least = 1) => whole(least, longestTimer)

/** A time in milliseconds that may have a fraction, as the time left until a deadline often does. */
export function duration() {
  const message = `expected a number above 0, ${longestTimer} at most`
  return z.number(message).check(z.positive(message), z.maximum(longestTimer, message))
}

/** A string that is not empty. */
export const text = () => z.string().check(z.minLength(1, 'expected a non-empty string'), withoutNul())

/** Paths, names and arguments cannot contain NUL. */
export const withoutNul = () =>
  z.refine<string>((value) => !value.includes('\0'), 'expected a string without a NUL character')

/** Environment variables. Copied first: a zod record accepts plain objects only, and `process.env` is not one. */
export const variables = () => z.pipe(z.transform(copied), z.record(z.string(), z.string()))

/** Returns other values unchanged, for the record to reject. */
function copied(value: Record<string, string>): Record<string, string> {
  return isObject(value) && !Array.isArray(value) ? { ...value } : value
}

/**
 * An optional value whose schema is created when the value is given: creating a schema is slower than using it, and most
 * calls leave most options out.
 */
export function optionally<Schema extends z.ZodMiniType>(create: () => Schema) {
  const schema = z.lazy(create)
  // Without it, zod creates the schema for a value that is left out, to see whether it has a default.
  Object.defineProperty(schema._zod, 'optin', { value: undefined })
  return z.optional(schema)
}

export const texts = () => z.array(z.string())
export const textsByName = () => z.record(z.string(), z.string())
export const flag = () => z.boolean()

/** Any JSON object; a single instance, which the OpenAPI document recognises by identity. */
export const jsonObject = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'expected an object',
)

/** Permission bits, as `files.write` takes them. */
export const mode = () => {
  const message = 'expected permission bits up to 0o1777'
  return z.int(message).check(z.minimum(0, message), z.maximum(0o1777, message))
}

// Checked by their methods: `instanceof` fails for objects of another realm or a polyfill.

export const signal = () =>
  z.custom<AbortSignal>(
    (value) => has(value, 'addEventListener') && typeof Reflect.get(value, 'aborted') === 'boolean',
    'expected an AbortSignal',
  )

export const stream = () =>
  z.custom<ByteStream>(
    (value) => has(value, 'getReader') || has(value, Symbol.asyncIterator),
    'expected a stream of bytes',
  )

export const bytes = () =>
  z.custom<Uint8Array>(
    (value) => ArrayBuffer.isView(value) && Object.prototype.toString.call(value) === '[object Uint8Array]',
    'expected bytes',
  )

/** A function; only the compiler checks its signature. */
// biome-ignore lint/suspicious/noExplicitAny: matches a function with any parameters.
export const callable = <Function extends (...given: any[]) => unknown>() =>
  z.custom<Function>((value) => typeof value === 'function', 'expected a function')

/** An object with these methods: a store, a host, a logger. */
export const having = <Thing extends object>(what: string, ...methods: readonly (string & keyof Thing)[]) =>
  z.custom<Thing>((value) => methods.every((name) => has(value, name)), `expected ${what}`)

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function has(value: unknown, method: string | symbol): value is object {
  return isObject(value) && typeof Reflect.get(value, method) === 'function'
}
