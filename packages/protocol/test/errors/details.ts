import fc from 'fast-check'
import type { JsonObject } from '../../src/index.ts'

/** Facts as they are after JSON has carried them: it knows no -0, and zod takes no `__proto__`. */
export const details: fc.Arbitrary<JsonObject> = fc
  .dictionary(fc.string(), fc.jsonValue())
  .map((value) => JSON.stringify(value))
  .filter((json) => !json.includes('__proto__'))
  .map((json): JsonObject => JSON.parse(json))
