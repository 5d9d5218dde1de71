import { components, json } from '@vitrine/protocol/http'
import { jsonObject } from '@vitrine/protocol/options'
import * as z from 'zod/mini'

export type JsonSchema = Readonly<Record<string, unknown>>

const refTo = (id: string) => `#/components/schemas/${id}`
const anyJson = { $ref: refTo('Json') }

/** The JSON schemas of a document: named ones are under `components` and referenced everywhere else. */
export class Schemas {
  readonly #inline = new Map<z.ZodMiniType, string>()
  readonly #generated: Readonly<Record<string, JsonSchema>>

  /** Collects the schemas of a document. A named schema registers itself when it is created. */
  constructor(inline: Iterable<z.ZodMiniType>) {
    const all = z.registry<{ readonly id: string }>()
    json()
    for (const schema of inline)
      if (!components.has(schema) && !this.#inline.has(schema))
        this.#inline.set(schema, `inline ${this.#inline.size}`)
    for (const [schema, id] of [...components, ...this.#inline]) all.add(schema, { id })
    const { schemas } = z.toJSONSchema(all, {
      // With 'input' no object forbids additional properties: a response may gain fields.
      io: 'input',
      uri: refTo,
      unrepresentable: ({ zodSchema }) => jsonSchemaOf(zodSchema),
      override: ({ zodSchema, jsonSchema }) => {
        if (zodSchema._zod.def.type === 'unknown') Object.assign(jsonSchema, anyJson)
        if (isLoose(zodSchema)) delete jsonSchema.additionalProperties
        dropRedundantKeywords(jsonSchema)
        const discriminator = discriminatorOf(zodSchema, jsonSchema)
        if (discriminator !== undefined) Object.assign(jsonSchema, { discriminator })
      },
    })
    this.#generated = schemas
  }

  of(schema: z.ZodMiniType): JsonSchema {
    const name = components.get(schema)
    if (name !== undefined) return { $ref: refTo(name) }
    const id = this.#inline.get(schema)
    if (id === undefined) throw new Error('A schema was not given to the constructor of Schemas.')
    return this.#body(id)
  }

  /** The named schemas, sorted by name. */
  components(): Record<string, JsonSchema> {
    const names = [...components.values()].sort()
    return Object.fromEntries(names.map((name) => [name, this.#body(name)]))
  }

  /** The body of a schema, with references to unnamed schemas replaced by their bodies. */
  #body(id: string): JsonSchema {
    const { $schema: _schema, $id: _id, ...rest } = this.#generated[id] ?? {}
    return JSON.parse(JSON.stringify(rest), (_key, value) => {
      const [, inner] = /#\/components\/schemas\/(inline \d+)$/.exec(value?.$ref ?? '') ?? []
      return inner === undefined ? value : this.#body(inner)
    })
  }
}

/** JSON Schema for the schemas that zod checks with a function. */
function jsonSchemaOf(schema: unknown): JsonSchema {
  if (schema === json()) return { description: 'Any JSON value.' }
  if (schema === jsonObject) return { type: 'object', additionalProperties: anyJson }
  throw new Error('A schema cannot be expressed as JSON Schema.')
}

/** Whether an object allows additional properties, which is the default in JSON Schema. */
function isLoose(schema: z.core.$ZodType): boolean {
  const { catchall } = schema._zod.def as { readonly catchall?: z.core.$ZodType }
  return catchall?._zod.def.type === 'unknown'
}

/** Removes the bounds of JavaScript's integers, and `propertyNames` that every object satisfies. */
function dropRedundantKeywords(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (JSON.stringify(schema.propertyNames) === '{"type":"string"}') delete schema.propertyNames
}

/** The discriminator of a union of named schemas, so that generated clients get a union that can be narrowed. */
function discriminatorOf(schema: z.core.$ZodType, { oneOf }: z.core.JSONSchema.BaseSchema) {
  const { discriminator, options } = schema._zod.def as {
    readonly discriminator?: string
    readonly options?: readonly z.core.$ZodType[]
  }
  const refs = oneOf?.map((option) => (typeof option === 'object' ? option.$ref : undefined))
  if (discriminator === undefined || refs === undefined || refs.includes(undefined)) return undefined
  const valueIn = (option: z.core.$ZodType | undefined) =>
    String([...(option?._zod.propValues?.[discriminator] ?? [])][0])
  const mapping = Object.fromEntries(refs.map((ref, index) => [valueIn(options?.[index]), ref]))
  return { propertyName: discriminator, mapping }
}
