import type { JsonObject, JsonValue } from '@vitrine/protocol'
import { z } from 'zod'

/** The input with its defaults filled in, or what is wrong with it. */
export type CheckedInput =
  | { readonly ok: true; readonly input: JsonObject }
  | { readonly ok: false; readonly why: string }

export type CheckInput = (input: unknown) => CheckedInput

/** Maximum number of problems in one error message. */
const maxProblems = 10

/** Compiles the JSON schema of an object to a check. Throws for a schema that is not supported. */
export function inputCheck(schema: JsonObject): CheckInput {
  // A separate registry, because schemas with the same `$id` would collide in the shared one.
  const shape = z.fromJSONSchema(schemaOf(schema), { registry: z.registry() })
  const required = namesOf(schema.required)
  return (input) => {
    if (typeof input !== 'object' || input === null || Array.isArray(input))
      return { ok: false, why: `expected an object, got ${kindOf(input)}` }
    const checked = shape.safeParse(input)
    if (!checked.success) return { ok: false, why: problemsOf(checked.error.issues) }
    // The schema describes an object, and the input is JSON.
    const value = checked.data as JsonObject
    // The schema check ignores required properties that it does not describe.
    const missing = required.filter((name) => !Object.hasOwn(value, name))
    if (missing.length > 0) return { ok: false, why: missing.map((name) => `${name}: missing`).join('; ') }
    return { ok: true, input: value }
  }
}

/** zod's schema type has no `readonly`; zod copies the schema before it reads it. */
function schemaOf(schema: JsonObject): Parameters<typeof z.fromJSONSchema>[0] {
  return schema as Parameters<typeof z.fromJSONSchema>[0]
}

function namesOf(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : []
}

function problemsOf(issues: readonly z.core.$ZodIssue[]): string {
  const texts = issues.slice(0, maxProblems).map(({ path, message }) => {
    const field = path.map(String).join('.')
    return field === '' ? message : `${field}: ${message}`
  })
  if (issues.length > maxProblems) texts.push(`and ${issues.length - maxProblems} more`)
  return texts.join('; ')
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`
}
