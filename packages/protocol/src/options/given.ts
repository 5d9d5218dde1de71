// biome-ignore lint/suspicious/noExplicitAny: any function is one, whatever it takes.
type Whole = ((...given: any[]) => unknown) | AbortSignal | Uint8Array | ReadableStream | Date

/** Options as a schema lets them pass: a field that may be left out may also be `undefined`. */
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
