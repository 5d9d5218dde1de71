import type { JsonObject, JsonValue } from '@vitrine/protocol'
import { z } from 'zod'

/** What came with its defaults filled in, or what is wrong with it. */
export type CheckedInput =
  | { readonly ok: true; readonly input: JsonObject }
  | { readonly ok: false; readonly why: string }

export type CheckInput = (input: unknown) => CheckedInput

/** How many complaints are told at once. */
const mostComplaints = 10

/** Checks values against the JSON schema of an object. Throws for a schema that cannot be followed. */
export function inputCheck(schema: JsonObject): CheckInput {
  // A registry of its own: two schemas with the same `$id` would meet in the common one.
  const shape = z.fromJSONSchema(schemaOf(schema), { registry: z.registry() })
  const required = namesOf(schema.required)
  return (input) => {
    if (typeof input !== 'object' || input === null || Array.isArray(input))
      return { ok: false, why: `expected an object, got ${kindOf(input)}` }
    const checked = shape.safeParse(input)
    if (!checked.success) return { ok: false, why: complaints(checked.error.issues) }
    // The schema of an object is parsed to an object, and JSON came in.
    const value = checked.data as JsonObject
    // Those that are required without being described are not looked for above.
    const missing = required.filter((name) => !Object.hasOwn(value, name))
    if (missing.length > 0) return { ok: false, why: missing.map((name) => `${name}: missing`).join('; ') }
    return { ok: true, input: value }
  }
}

/** Its own type of a schema has no `readonly`; it is copied before it is read. */
function schemaOf(schema: JsonObject): Parameters<typeof z.fromJSONSchema>[0] {
  return schema as Parameters<typeof z.fromJSONSchema>[0]
}

function namesOf(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : []
}

function complaints(issues: readonly z.core.$ZodIssue[]): string {
  const told = issues.slice(0, mostComplaints).map(({ path, message }) => {
    const where = path.map(String).join('.')
    return where === '' ? message : `${where}: ${message}`
  })
  if (issues.length > mostComplaints) told.push(`and ${issues.length - mostComplaints} more`)
  return told.join('; ')
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`
}
