import { shortestForm } from './forms.ts'

/**
 * Forms in code-unit order: all forms with one beginning stand together, and what a text begins with is
 * found in as many steps as their number has bits, however many share a prefix.
 */
export interface SortedForms {
  readonly size: number
  add(added: readonly string[]): void
  remove(removed: readonly string[]): void
  /** The longest form that stands in the text at this place. */
  matchAt(text: string, at: number): string | undefined
  /** The shortest form that is longer than the rest of the text from this place on and begins with it. */
  begunAt(text: string, at: number): string | undefined
  /** Whether any form is longer than the rest of the text from this place on and begins with it. */
  isBegunAt(text: string, at: number): boolean
}

// Up to here moving the rest of the array for each form costs less than going through all of it once.
const fewForms = 32

export function createSortedForms(): SortedForms {
  let forms: string[] = []

  /** How many forms come before `text.slice(at, end)` or are equal to it. */
  function rank(text: string, at: number, end: number): number {
    let low = 0
    let high = forms.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compare(forms[middle]!, text, at, end) <= 0) low = middle + 1
      else high = middle
    }
    return low
  }

  return {
    get size() {
      return forms.length
    },
    add(added) {
      if (added.length > fewForms) forms = [...forms, ...added].sort()
      else for (const form of added) forms.splice(rank(form, 0, form.length), 0, form)
    },
    remove(removed) {
      if (removed.length > fewForms) {
        const gone = new Set(removed)
        forms = forms.filter((form) => !gone.has(form))
        return
      }
      for (const form of removed) {
        const index = rank(form, 0, form.length) - 1
        if (forms[index] === form) forms.splice(index, 1)
      }
    },
    matchAt(text, at) {
      let end = text.length
      while (end - at >= shortestForm) {
        const form = forms[rank(text, at, end) - 1]
        if (form === undefined) return undefined
        const shared = sharedLength(form, text, at, end)
        if (shared === form.length) return form
        // A shorter form that stands here is also a beginning of this one: it lies within what they share.
        end = at + shared
      }
      return undefined
    },
    begunAt(text, at) {
      const length = text.length - at
      let shortest: string | undefined
      for (let index = rank(text, at, text.length); index < forms.length; index++) {
        const form = forms[index]!
        if (sharedLength(form, text, at, text.length) < length) break
        if (shortest === undefined || form.length < shortest.length) shortest = form
      }
      return shortest
    },
    isBegunAt(text, at) {
      const form = forms[rank(text, at, text.length)]
      return form !== undefined && sharedLength(form, text, at, text.length) === text.length - at
    },
  }
}

function sharedLength(form: string, text: string, at: number, end: number): number {
  const most = Math.min(form.length, end - at)
  let length = 0
  while (length < most && form.charCodeAt(length) === text.charCodeAt(at + length)) length++
  return length
}

function compare(form: string, text: string, at: number, end: number): number {
  const shared = sharedLength(form, text, at, end)
  if (shared === form.length) return shared === end - at ? 0 : -1
  return shared === end - at ? 1 : form.charCodeAt(shared) - text.charCodeAt(at + shared)
}
