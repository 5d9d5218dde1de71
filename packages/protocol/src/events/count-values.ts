/** Deeper values are not counted, because the journal does not store them. */
const maxDepth = 100

/** The most members and items in the data of one event. Masking and hashing take about 4 µs for each. */
export const maxEventValues = 50_000

/**
 * Whether an event's data has more members and items than `maxEventValues`. Values inside of themselves are not counted.
 * Runs for every event, so it stops at the first one too many.
 */
export function hasTooManyValues(data: object): boolean {
  try {
    // Looking for values inside of themselves takes most of the time, and without it there are only more values.
    return countDown(data, maxEventValues, 0, undefined) < 0 && countDown(data, maxEventValues, 0, []) < 0
  } catch {
    // A getter that throws: the journal stores a note instead of its value.
    return false
  }
}

/** Subtracts the number of values from `left`; negative if there are more. Does not count the given parents again. */
function countDown(value: object, left: number, depth: number, parents: object[] | undefined): number {
  if (ArrayBuffer.isView(value) || depth >= maxDepth || parents?.includes(value)) return left
  parents?.push(value)
  const rest =
    Array.isArray(value) || value instanceof Map || value instanceof Set
      ? countItems(value, left, depth + 1, parents)
      : countMembers(value, left, depth + 1, parents)
  parents?.pop()
  return rest
}

function countItems(
  items: Iterable<unknown>,
  left: number,
  depth: number,
  parents: object[] | undefined,
): number {
  let rest = left
  for (const item of items) {
    rest -= 1
    if (typeof item === 'object' && item !== null) rest = countDown(item, rest, depth, parents)
    if (rest < 0) break
  }
  return rest
}

function countMembers(value: object, left: number, depth: number, parents: object[] | undefined): number {
  let rest = left
  for (const key in value) {
    rest -= 1
    const inner: unknown = (value as Readonly<Record<string, unknown>>)[key]
    if (typeof inner === 'object' && inner !== null) rest = countDown(inner, rest, depth, parents)
    if (rest < 0) break
  }
  return rest
}
