import fc from 'fast-check'
import type { JsonObject, JsonValue } from '../../src/index.ts'

/** Facts as JSON carries them. */
export const details: fc.Arbitrary<JsonObject> = fc.dictionary(
  fc.string().filter((key) => key !== '__proto__'),
  // What fast-check calls a JSON value is one of ours.
  fc.jsonValue().filter((value) => !JSON.stringify(value).includes('__proto__')) as fc.Arbitrary<JsonValue>,
  { noNullPrototype: true },
)
