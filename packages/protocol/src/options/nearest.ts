/**
 * Finds the known name that is most similar to a misspelt one, by common prefix or by edit distance; nothing if none is
 * close.
 *
 * @example
 * nearest('timeout', ['cwd', 'timeoutMs']) // 'timeoutMs'
 */
export function nearest(given: string, known: readonly string[]): string | undefined {
  const wanted = given.toLowerCase()
  let best: { readonly name: string; readonly distance: number } | undefined
  for (const name of known) {
    // Compare only the last part of a nested name such as `limits.memoryBytes`.
    const candidate = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
    const distance = Math.min(prefixDistance(wanted, candidate), editDistance(wanted, candidate))
    if (best === undefined || distance < best.distance) best = { name, distance }
  }
  return best !== undefined && best.distance <= Math.max(1.5, Math.floor(wanted.length / 3))
    ? best.name
    : undefined
}

const shortestPrefix = 3

/** Less than one edit if one name is a prefix of the other; 1.5 edits if they share at least half of the shorter one. */
function prefixDistance(one: string, other: string): number {
  const shorter = Math.min(one.length, other.length)
  let shared = 0
  while (shared < shorter && one[shared] === other[shared]) shared += 1
  if (shared < shortestPrefix) return Number.POSITIVE_INFINITY
  // Prefer the candidate whose length is closest.
  if (shared === shorter) return 0.5 + Math.abs(one.length - other.length) / 100
  return shared * 2 >= shorter ? 1.5 : Number.POSITIVE_INFINITY
}

const longestCompared = 64

/** Damerau-Levenshtein distance: insertions, deletions, replacements and swaps of neighbours. */
function editDistance(one: string, other: string): number {
  if (one.length > longestCompared) return Number.POSITIVE_INFINITY
  let beforeLast: number[] = []
  let last = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= other.length; column += 1) {
      const same = one[row - 1] === other[column - 1]
      let cost = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + (same ? 0 : 1))
      if (row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1])
        cost = Math.min(cost, beforeLast[column - 2]! + 1)
      current.push(cost)
    }
    beforeLast = last
    last = current
  }
  return last[other.length]!
}

const listedKeys = 20
const shownKey = 64

/** A message with the unknown key, the most similar known key and a list. `further` keys are suggested but not listed. */
export function unknownKeyMessage(
  given: string,
  known: readonly string[],
  further: readonly string[] = [],
): string {
  const suggestion = nearest(given, [...known, ...further])
  const shown = JSON.stringify(given.length > shownKey ? `${given.slice(0, shownKey)}…` : given)
  return [
    `unknown key ${shown}`,
    suggestion === undefined ? '.' : `; did you mean "${suggestion}"?`,
    known.length === 0
      ? ' No keys are known here.'
      : ` Known keys: ${known.slice(0, listedKeys).join(', ')}${known.length > listedKeys ? ', …' : '.'}`,
  ].join('')
}
