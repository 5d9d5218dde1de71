import * as z from 'zod/mini'
import { unknownKeyMessage } from './nearest.ts'

type Shape = z.core.$ZodLooseShape

/**
 * An object schema that rejects unknown keys and suggests the nearest known one. A schema that `z.extend` derives from it
 * does the same.
 */
export function strict<const Fields extends Shape>(fields: Fields) {
  return z.strictObject(fields, { error: unknownKey })
}

function unknownKey({ code, keys, inst }: z.core.$ZodRawIssue): string | undefined {
  if (code !== 'unrecognized_keys' || !Array.isArray(keys)) return undefined
  const [given = ''] = keys as readonly string[]
  const shape = shapeOf(inst) ?? {}
  return unknownKeyMessage(given, Object.keys(shape), nestedKeys(shape))
}

/** Keys one level deeper, so that `memory` can suggest `limits.memoryBytes`. */
function nestedKeys(shape: Shape): string[] {
  return Object.entries(shape).flatMap(([name, field]) =>
    Object.keys(shapeOf(field) ?? {}).map((key) => `${name}.${key}`),
  )
}

function shapeOf(schema: unknown): Shape | undefined {
  const def = (schema as Partial<z.core.$ZodType> | undefined)?._zod?.def as
    | {
        type: string
        shape?: Shape
        innerType?: unknown
        getter?: () => unknown
        options?: readonly unknown[]
      }
    | undefined
  if (def?.type === 'object') return def.shape
  if (def?.innerType !== undefined) return shapeOf(def.innerType)
  if (def?.getter !== undefined) return shapeOf(def.getter())
  for (const option of def?.options ?? []) {
    const shape = shapeOf(option)
    if (shape !== undefined) return shape
  }
  return undefined
}
