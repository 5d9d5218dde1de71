import { VitrineError } from '../errors/vitrine-error.ts'
import { fieldPath } from '../expectation.ts'

/** A schema drops this key, because assigning to it changes an object's prototype. */
const dropped = '__proto__'

/** Refuses a value with a key that its schema has dropped: the caller would take it for accepted. */
export function refuseDroppedKeys(
  name: string,
  given: unknown,
  parsed: unknown,
  path: PropertyKey[] = [],
): void {
  if (!isPlain(given)) return
  if (Object.hasOwn(given, dropped) && !(isPlain(parsed) && Object.hasOwn(parsed, dropped)))
    throw new VitrineError(
      'argument_invalid',
      `${fieldPath(name, [...path, dropped])}: expected another name, because objects have their prototype under this one.`,
      { details: { path: fieldPath(name, [...path, dropped]) } },
    )
  // A schema that keeps the object as it is has dropped nothing.
  if (given === parsed) return
  for (const [key, inner] of Object.entries(given))
    if (typeof inner === 'object')
      refuseDroppedKeys(name, inner, isPlain(parsed) ? Reflect.get(parsed, key) : undefined, [
        ...path,
        Array.isArray(given) ? Number(key) : key,
      ])
}

/** Whether a value is an array or an object of JSON; instances of classes are not searched. */
function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
