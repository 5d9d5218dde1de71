/** A JSON value, as in the data of an event. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue | undefined }

export type JsonObject = { readonly [key: string]: JsonValue | undefined }
