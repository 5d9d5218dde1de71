/** What JSON can carry, and so what an event can. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue | undefined }

export type JsonObject = { readonly [key: string]: JsonValue | undefined }
