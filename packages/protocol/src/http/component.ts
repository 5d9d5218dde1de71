import * as z from 'zod/mini'

/** The schemas that have a name in the OpenAPI document. A schema is registered when it is made. */
export const components = z.registry<{ readonly id: string }>()

/** A named schema, made on its first use: most processes use none of them. */
export function component<Schema extends z.ZodMiniType>(id: string, make: () => Schema): () => Schema {
  let made: Schema | undefined
  return () => {
    if (made === undefined) {
      made = make()
      components.add(made, { id })
    }
    return made
  }
}
