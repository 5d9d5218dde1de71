import { z } from 'zod'

/** As much of JSON Schema as agents use. Gemini writes types in capitals. */
const Property = z.looseObject({
  type: z.optional(z.union([z.string(), z.array(z.string())])),
  enum: z.optional(z.array(z.unknown())),
})

/** An object: what a tool takes, or what an agent wants an answer to look like. */
export const Schema = z.object({
  properties: z.optional(z.record(z.string(), Property)),
  required: z.optional(z.array(z.string())),
})

export type Property = z.infer<typeof Property>
export type Schema = z.infer<typeof Schema>

/** What a string is where nothing else is known. */
export const filler = 'A short title'

/** An object of this shape, with what is required and no more. */
export function exampleOf({ properties = {}, required = [] }: Schema): Record<string, unknown> {
  return Object.fromEntries(required.map((name) => [name, example(properties[name])]))
}

/** Some value that fits; of several, the one that lets things go on. */
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
