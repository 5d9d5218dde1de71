import { shortestForm } from './forms.ts'

/**
 * Forms in code-unit order: all forms with one beginning stand together, and what a text begins with is
 * found in as many steps as their number has bits, however many share a prefix.
 */
export interface SortedForms {
  /** Takes forms that are not there yet. */
  add(added: readonly string[]): void
  /** Takes forms that are there. */
  remove(removed: readonly string[]): void
  /** The longest form that stands in the text at this place. */
  matchAt(text: string, at: number): string | undefined
  /** Whether a form may begin with this code unit. */
  mayStartWith(unit: number): boolean
  /** Whether the rest of the text from this place on is the beginning of a longer form. */
  isPrefixAt(text: string, at: number): boolean
  /** The shortest of these longer forms. */
  completionAt(text: string, at: number): string | undefined
}

// Up to here, moving up what stands behind each new form costs less than sorting all of them again.
const fewForms = 64

export function createSortedForms(): SortedForms {
  let forms: string[] = []
  let unsorted: string[] = []
  // How many forms begin with a code unit of this low byte.
  const firstBytes = new Uint32Array(256)

  /** New forms wait until they are asked for: thousands that come one by one are sorted once. */
  function sort(): void {
    if (unsorted.length > fewForms) forms = forms.concat(unsorted).sort()
    else for (const form of unsorted) forms.splice(rank(forms, form, 0, form.length), 0, form)
    unsorted = []
  }

  return {
    add(added) {
      for (const form of added) {
        unsorted.push(form)
        firstBytes[form.charCodeAt(0) & 255]!++
      }
    },
    remove(removed) {
      sort()
      const removedForms = new Set(removed)
      if (removed.length > fewForms) forms = forms.filter((form) => !removedForms.has(form))
      else for (const form of removed) forms.splice(rank(forms, form, 0, form.length) - 1, 1)
      for (const form of removed) firstBytes[form.charCodeAt(0) & 255]!--
    },
    matchAt(text, at) {
      if (unsorted.length > 0) sort()
      let end = text.length
      while (end - at >= shortestForm) {
        const form = forms[rank(forms, text, at, end) - 1]
        if (form === undefined) return undefined
        const shared = sharedLength(form, text, at, end)
        if (shared === form.length) return form
        // A shorter form that stands here is also a beginning of this one: it lies within what they share.
        end = at + shared
      }
      return undefined
    },
    mayStartWith: (unit) => firstBytes[unit & 255] !== 0,
    isPrefixAt(text, at) {
      if (unsorted.length > 0) sort()
      const form = forms[rank(forms, text, at, text.length)]
      return form !== undefined && sharedLength(form, text, at, text.length) === text.length - at
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

/** How many of the forms come before `text.slice(at, end)` or are equal to it. */
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
