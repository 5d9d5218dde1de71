import { z } from 'zod'

/** The part of JSON Schema that agents use. Gemini writes types in capitals. */
const Property = z.looseObject({
  type: z.optional(z.union([z.string(), z.array(z.string())])),
  enum: z.optional(z.array(z.unknown())),
})

/** The schema of an object: the input of a tool, or the form of a reply. */
export const Schema = z.object({
  properties: z.optional(z.record(z.string(), Property)),
  required: z.optional(z.array(z.string())),
})

export type Property = z.infer<typeof Property>
export type Schema = z.infer<typeof Schema>

/** The value of a string without other constraints. */
export const filler = 'A short title'

/** An example object of the schema with only its required properties. */
export function exampleOf({ properties = {}, required = [] }: Schema): Record<string, unknown> {
  return Object.fromEntries(required.map((name) => [name, example(properties[name])]))
}

/** An example value; of several, the one that approves or continues. */
export function example(property: Property | undefined): unknown {
  if (property?.enum) return property.enum.find(isWelcome) ?? property.enum[0]
  switch (types(property)[0]) {
    case 'boolean':
      return true
    case 'integer':
    case 'number':
      return 1
    case 'array':
      return []
    case 'object':
      return {}
    default:
      return filler
  }
}

export function isList(property: Property | undefined): boolean {
  return types(property).includes('array')
}

function isWelcome(value: unknown): boolean {
  return value === 'create' || value === 'allow'
}

function types(property: Property | undefined): string[] {
  return [property?.type ?? []].flat().map((type) => type.toLowerCase())
}
