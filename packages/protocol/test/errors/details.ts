import fc from 'fast-check'
import type { JsonObject } from '../../src/index.ts'

/** Details that survive JSON and zod: JSON has no -0, and zod drops `__proto__`. */
export const details: fc.Arbitrary<JsonObject> = fc
  .dictionary(fc.string(), fc.jsonValue())
  .map((value) => JSON.stringify(value))
  .filter((json) => !json.includes('__proto__'))
  .map((json): JsonObject => JSON.parse(json))
