import type * as z from 'zod/mini'

const made = new Map<z.ZodMiniType, string>()

/** The schemas made so far that have a name in the OpenAPI document. */
export const components: ReadonlyMap<z.ZodMiniType, string> = made

/** A named schema, made on its first use: most processes use none of them. */
export function component<Schema extends z.ZodMiniType>(name: string, make: () => Schema): () => Schema {
  let schema: Schema | undefined
  return () => {
    schema ??= named(name, make())
    return schema
  }
}

/** Gives a name to a schema that is there already: one that holds itself needs one. */
export function named<Schema extends z.ZodMiniType>(name: string, schema: Schema): Schema {
  made.set(schema, name)
  return schema
}
