/**
 * Forms sorted by code units: forms with a common prefix are adjacent, so a binary search finds the forms that match
 * at an index.
 */
export interface SortedForms {
  /** Adds forms; none of them may be present already. */
  add(added: readonly string[]): void
  /** Removes forms; all of them must be present. */
  remove(removed: readonly string[]): void
  /** Adds and removes texts that only `mayStartWith` counts. */
  addStarts(starts: readonly string[]): void
  removeStarts(starts: readonly string[]): void
  /** The longest form that the text contains at this index. */
  matchAt(text: string, at: number): string | undefined
  /** Whether a form may start with these two code units, the second of which may be NaN for none. */
  mayStartWith(first: number, second: number): boolean
  /** Whether the rest of the text from this index on is a prefix of a longer form. */
  isPrefixAt(text: string, at: number): boolean
  /** How many of a text's first code units are the beginning of a form. */
  sharedAt(text: string): number
  /** The shortest form that starts with the rest of the text from this index on and is longer. */
  completionAt(text: string, at: number): string | undefined
}

// Up to this many, inserting each form costs less than sorting all of them again.
const fewForms = 64

/** Shared by all that have no form yet. */
const noPairs = new Uint32Array(256 * 256)

export function createSortedForms(): SortedForms {
  let forms: string[] = []
  let unsorted: string[] = []
  // No form that was ever added is shorter.
  let shortest = Number.POSITIVE_INFINITY
  // The number of forms by the low bytes of their first code unit, and of their first two.
  const firstBytes = new Uint32Array(256)
  let firstPairs = noPairs

  function count(form: string, change: 1 | -1): void {
    if (firstPairs === noPairs) firstPairs = new Uint32Array(noPairs.length)
    firstBytes[form.charCodeAt(0) & 255]! += change
    firstPairs[pairOf(form.charCodeAt(0), form.charCodeAt(1))]! += change
  }

  /** Sorts new forms lazily, so that thousands added one by one are sorted once. */
  function sort(): void {
    if (unsorted.length > fewForms) forms = forms.concat(unsorted).sort()
    else for (const form of unsorted) forms.splice(rank(forms, form, 0, form.length), 0, form)
    unsorted = []
  }

  return {
    add(added) {
      for (const form of added) {
        unsorted.push(form)
        shortest = Math.min(shortest, form.length)
        count(form, 1)
      }
    },
    remove(removed) {
      sort()
      const removedForms = new Set(removed)
      if (removed.length > fewForms) forms = forms.filter((form) => !removedForms.has(form))
      else for (const form of removed) forms.splice(rank(forms, form, 0, form.length) - 1, 1)
      for (const form of removed) count(form, -1)
    },
    addStarts(starts) {
      for (const start of starts) count(start, 1)
    },
    removeStarts(starts) {
      for (const start of starts) count(start, -1)
    },
    matchAt(text, at) {
      if (unsorted.length > 0) sort()
      let end = text.length
      while (end - at >= shortest) {
        const form = forms[rank(forms, text, at, end) - 1]
        if (form === undefined) return undefined
        const shared = sharedLength(form, text, at, end)
        if (shared === form.length) return form
        // A shorter match at this index is also a prefix of this form, so it lies within their common prefix.
        end = at + shared
      }
      return undefined
    },
    mayStartWith: (first, second) =>
      Number.isNaN(second) ? firstBytes[first & 255] !== 0 : firstPairs[pairOf(first, second)] !== 0,
    isPrefixAt(text, at) {
      if (unsorted.length > 0) sort()
      const form = forms[rank(forms, text, at, text.length)]
      return form !== undefined && sharedLength(form, text, at, text.length) === text.length - at
    },
    sharedAt(text) {
      if (unsorted.length > 0) sort()
      const index = rank(forms, text, 0, text.length)
      return Math.max(
        sharedLength(forms[index - 1] ?? '', text, 0, text.length),
        sharedLength(forms[index] ?? '', text, 0, text.length),
      )
    },
    completionAt(text, at) {
      if (unsorted.length > 0) sort()
      let shortest: string | undefined
      for (let index = rank(forms, text, at, text.length); index < forms.length; index++) {
        const form = forms[index]!
        if (sharedLength(form, text, at, text.length) < text.length - at) break
        if (shortest === undefined || form.length < shortest.length) shortest = form
      }
      return shortest
    },
  }
}

function pairOf(first: number, second: number): number {
  return ((first & 255) << 8) | (second & 255)
}

/** The number of forms that sort before `text.slice(at, end)` or are equal to it. */
function rank(forms: readonly string[], text: string, at: number, end: number): number {
  let low = 0
  let high = forms.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compare(forms[middle]!, text, at, end) <= 0) low = middle + 1
    else high = middle
  }
  return low
}

function compare(form: string, text: string, at: number, end: number): number {
  const shared = sharedLength(form, text, at, end)
  if (shared === form.length) return shared === end - at ? 0 : -1
  return shared === end - at ? 1 : form.charCodeAt(shared) - text.charCodeAt(at + shared)
}

function sharedLength(form: string, text: string, at: number, end: number): number {
  const most = Math.min(form.length, end - at)
  let length = 0
  while (length < most && form.charCodeAt(length) === text.charCodeAt(at + length)) length++
  return length
}
