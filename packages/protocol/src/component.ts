import type * as z from 'zod/mini'

const made = new Map<z.ZodMiniType, string>()

/** The schemas created so far that have a name in the OpenAPI document. */
export const components: ReadonlyMap<z.ZodMiniType, string> = made

/** A named schema, created on first use: most processes use few of them. */
export function component<Schema extends z.ZodMiniType>(name: string, make: () => Schema): () => Schema {
  let schema: Schema | undefined
  return () => {
    schema ??= named(name, make())
    return schema
  }
}

/** Names an existing schema; a recursive schema needs a name. */
export function named<Schema extends z.ZodMiniType>(name: string, schema: Schema): Schema {
  made.set(schema, name)
  return schema
}
