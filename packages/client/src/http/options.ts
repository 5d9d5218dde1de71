import { unknownKeyMessage, VitrineError } from '@vitrine/protocol'

/**
 * The options of a call with the fields that only its request has. The server refuses options it does not know, but an
 * option with the name of such a field would be taken for that field.
 */
export function withFields<Options extends object, Fields extends object>(
  call: string,
  options: Options,
  fields: Fields,
): Options & Fields {
  const taken = Object.keys(fields).find((name) => Object.hasOwn(options, name))
  if (taken !== undefined) throw unknownKey(call, taken, [])
  return { ...options, ...fields }
}

/** Refuses unknown keys of options that are not sent, so that no server can. */
export function checkKeys<Options extends object>(
  call: string,
  options: Options,
  known: { readonly [Name in keyof Options]-?: true },
): void {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(known, name))
  if (unknown !== undefined) throw unknownKey(call, unknown, Object.keys(known))
}

/** Refuses `types` that are no list of strings, where they are not sent either. */
export function checkedTypes<Types>(call: string, types: Types): Types {
  if (types === undefined || (Array.isArray(types) && types.every((type) => typeof type === 'string')))
    return types
  throw new VitrineError(
    'argument_invalid',
    `${call} options.types: expected an array of types, such as ['file.*'], got a value of type ${typeof types}.`,
    { details: { path: `${call} options.types` } },
  )
}

function unknownKey(call: string, given: string, known: readonly string[]): VitrineError {
  const name = `${call} options`
  const message = known.length === 0 ? `unknown key "${given}".` : unknownKeyMessage(given, known)
  return new VitrineError('argument_invalid', `${name}: ${message}`, { details: { path: name } })
}
