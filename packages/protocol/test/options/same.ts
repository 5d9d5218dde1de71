import type * as z from 'zod/mini'

// biome-ignore lint/suspicious/noExplicitAny: any function is one, whatever it takes.
type AnyFunction = (...given: any[]) => unknown
type Whole = AbortSignal | Uint8Array | ReadableStream | Date | URL

/** A type with all fields required, so that a missing field shows; functions are not expanded. */
type Fields<Type> = Type extends AnyFunction
  ? 'a function'
  : Type extends Whole
    ? Type
    : Type extends readonly (infer Item)[]
      ? Fields<Item>[]
      : Type extends object
        ? {
            -readonly [Name in keyof Type]-?: object extends Pick<Type, Name>
              ? Fields<Exclude<Type[Name], undefined>> | 'left out'
              : Fields<Type[Name]>
          }
        : Type

type Extends<One, Other> = [One] extends [Other] ? true : false

/** The input type of a schema. */
export type InputOf<Schema> = Schema extends z.ZodMiniType ? z.input<Schema> : never

/** `true` if both types have the same fields with the same types. */
export type Same<One, Other> =
  Extends<Fields<One>, Fields<Other>> extends true ? Extends<Fields<Other>, Fields<One>> : false

/** Compiles only for `true`. */
export function same<_Proof extends true>(): void {}
