import { components, json } from '@vitrine/protocol/http'
import { jsonObject } from '@vitrine/protocol/options'
import * as z from 'zod/mini'

export type JsonSchema = Readonly<Record<string, unknown>>

const refTo = (id: string) => `#/components/schemas/${id}`
const anyJson = { $ref: refTo('Json') }

/** The JSON schemas of a document: those with a name once under `components`, by reference everywhere else. */
export class Schemas {
  readonly #inline = new Map<z.ZodMiniType, string>()
  readonly #generated: Readonly<Record<string, JsonSchema>>

  /** Collects the schemas that a document needs. Named ones are registered by being made. */
  constructor(inline: Iterable<z.ZodMiniType>) {
    const all = z.registry<{ readonly id: string }>()
    json()
    for (const schema of inline)
      if (!components.has(schema) && !this.#inline.has(schema))
        this.#inline.set(schema, `inline ${this.#inline.size}`)
    for (const [schema, id] of [...components, ...this.#inline]) all.add(schema, { id })
    const { schemas } = z.toJSONSchema(all, {
      // As it is written: a response may gain fields, so none forbids those that it does not name.
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
    if (id === undefined) throw new Error('A schema of the document was not collected.')
    return this.#body(id)
  }

  /** By name, in the order of the alphabet. */
  components(): Record<string, JsonSchema> {
    const names = [...components.values()].sort()
    return Object.fromEntries(names.map((name) => [name, this.#body(name)]))
  }

  /** A schema without a name stands where it is used, also in another one. */
  #body(id: string): JsonSchema {
    const { $schema: _schema, $id: _id, ...rest } = this.#generated[id] ?? {}
    return JSON.parse(JSON.stringify(rest), (_key, value) => {
      const [, inner] = /#\/components\/schemas\/(inline \d+)$/.exec(value?.$ref ?? '') ?? []
      return inner === undefined ? value : this.#body(inner)
    })
  }
}

/** Schemas that are a function in zod, as JSON Schema has them. */
function jsonSchemaOf(schema: unknown): JsonSchema {
  if (schema === json()) return { description: 'Any JSON value; its shape is not decided here.' }
  if (schema === jsonObject) return { type: 'object', additionalProperties: anyJson }
  throw new Error('A schema of the document has no form in JSON Schema.')
}

/** An object that may have fields beside those that are named: JSON Schema says so by saying nothing. */
function isLoose(schema: z.core.$ZodType): boolean {
  const { catchall } = schema._zod.def as { readonly catchall?: z.core.$ZodType }
  return catchall?._zod.def.type === 'unknown'
}

/** Bounds that every number of JavaScript has, and names that every object has. */
function dropRedundantKeywords(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (JSON.stringify(schema.propertyNames) === '{"type":"string"}') delete schema.propertyNames
}

/** Which named option a value is, by one of its fields: generators make a union of it that can be narrowed. */
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
