import type { ByteStream } from '../sandbox/files.ts'

// biome-ignore lint/suspicious/noExplicitAny: matches a function with any parameters.
type Whole = ((...given: any[]) => unknown) | AbortSignal | Uint8Array | ByteStream | Date

/** Options as a schema accepts them: an optional field may also be `undefined`. */
export type Given<Options> = Options extends Whole
  ? Options
  : Options extends readonly (infer Item)[]
    ? readonly Given<Item>[]
    : Options extends object
      ? {
          readonly [Name in keyof Options]: object extends Pick<Options, Name>
            ? Given<Options[Name]> | undefined
            : Given<Options[Name]>
        }
      : Options
