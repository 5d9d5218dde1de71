/**
 * A table whose values are created on first access: creating a schema is slower than using it, and a process uses few.
 *
 * @example
 * const schemas = lazily({ name: () => z.string() })
 * schemas.name.parse('x')
 */
export function lazily<const Makers extends Readonly<Record<string, () => unknown>>>(
  makers: Makers,
): Made<Makers> {
  const made = {}
  for (const [name, make] of Object.entries(makers))
    Object.defineProperty(made, name, {
      enumerable: true,
      configurable: true,
      get: () => defineValue(made, name, make()),
    })
  return made as Made<Makers>
}

export type Made<Makers> = {
  readonly [Name in keyof Makers]: Makers[Name] extends () => infer Value ? Value : Makers[Name]
}

export function defineValue<Value>(table: object, name: string, value: Value): Value {
  Object.defineProperty(table, name, { value, enumerable: true })
  return value
}

/** Merges lazy tables without creating their values. */
export function joined<Tables extends readonly object[]>(...tables: Tables): Joined<Tables> {
  const all = {}
  for (const table of tables)
    for (const name of Object.keys(table) as (keyof typeof table)[])
      Object.defineProperty(all, name, {
        enumerable: true,
        configurable: true,
        get: () => defineValue(all, name, table[name]),
      })
  return all as Joined<Tables>
}

type Joined<Tables extends readonly object[]> = Tables extends readonly [
  infer First,
  ...infer Rest extends object[],
]
  ? First & Joined<Rest>
  : unknown
