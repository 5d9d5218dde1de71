import { hasTooManyValues, maxEventValues } from './count-values.ts'

/** How many entries of every object and array stay: the first of these with which the data fits. */
const breadths = [10_000, 1_000, 100, 10, 1]
/** Deeper values are not counted either. */
const maxDepth = 100

type Fields = Readonly<Record<string, unknown>>

/**
 * Data for an event that may have too many values: then all objects and arrays below its fields keep their first entries
 * only, and `truncated: true` says so.
 */
export function withinEventValues<Data extends object>(
  data: Data,
): Data | (Data & { readonly truncated: true }) {
  if (!hasTooManyValues(data)) return data
  const fields = data as Fields
  const cut = breadths.map((breadth) => firstEntries(fields, breadth)).find((one) => one !== undefined)
  // The kinds of all values stay, so `cut` has the type of `data`.
  return { ...(cut ?? withoutEntries(fields)), truncated: true } as Data & { truncated: true }
}

/** Undefined if the rest has still too many values. */
function firstEntries(data: Fields, breadth: number): Fields | undefined {
  // One is for `truncated`.
  let left = maxEventValues - 1
  const copy = (value: unknown, depth: number): unknown => {
    if (typeof value !== 'object' || value === null || depth === maxDepth || left < 0) return value
    if (Array.isArray(value)) {
      const items = value.slice(0, breadth)
      left -= items.length
      return left < 0 ? items : items.map((item) => copy(item, depth + 1))
    }
    const members: Record<string, unknown> = {}
    let count = 0
    for (const key in value) {
      if (count === breadth || left < 0) break
      count += 1
      left -= 1
      members[key] = copy((value as Fields)[key], depth + 1)
    }
    return members
  }
  const fields: Record<string, unknown> = {}
  for (const key in data) {
    left -= 1
    fields[key] = copy(data[key], 1)
    if (left < 0) return undefined
  }
  return fields
}

function withoutEntries(data: Fields): Fields {
  const empty = (value: unknown) =>
    Array.isArray(value) ? [] : typeof value === 'object' && value !== null ? {} : value
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, empty(value)]))
}
