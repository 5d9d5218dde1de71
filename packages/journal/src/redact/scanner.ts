import { type GramFilter, gramLength } from './grams.ts'
import { createSortedForms } from './sorted-forms.ts'
import { noSpans, type Span } from './span.ts'

/** A secret's name and the texts it may appear as. */
export interface NamedForms {
  readonly name: string
  readonly forms: readonly string[]
}

/** The result for a text that may continue. */
export interface OpenScan {
  readonly spans: readonly Span[]
  /**
   * The index where the beginning of a form starts that reaches the end of the text (only possibly, if it is shorter
   * than four characters), or the text's length if there is none.
   */
  readonly pending: number
}

/**
 * Finds forms in texts: from left to right, the longest at each index, never overlapping. The time hardly depends on
 * the number of forms.
 */
export interface Scanner {
  add(secret: NamedForms): void
  remove(secret: NamedForms): void
  /** The forms in a complete text, from index `from` on. */
  find(text: string, from?: number): readonly Span[]
  /** The forms in a text that may continue, from index `from` on. */
  scan(text: string, from?: number): OpenScan
  /** The forms in a truncated text: at its end, half of a form or more counts as a match. */
  cut(text: string): readonly Span[]
}

/** The filter may be shared: marks of other scanners cost some time and do not change the result. */
export function createScanner(filter: GramFilter): Scanner {
  const names = new Map<string, readonly string[]>()
  const sorted = createSortedForms()
  let longest = 0

  const span = (start: number, end: number, form: string): Span => ({
    start,
    end,
    name: names.get(form)?.[0] ?? '',
  })

  function walk(text: string, first: number, ending: 'complete' | 'open' | 'cut'): OpenScan {
    const { length } = text
    let spans: Span[] | undefined
    let from = first
    for (let at = filter.next(text, from); at !== -1; at = filter.next(text, from)) {
      if (ending !== 'complete' && length - at < longest && sorted.isPrefixAt(text, at)) {
        if (ending === 'open') return { spans: spans ?? noSpans, pending: at }
        const form = sorted.completionAt(text, at)
        if (form !== undefined && (length - at) * 2 >= form.length) {
          return { spans: [...(spans ?? noSpans), span(at, length, form)], pending: length }
        }
      }
      const form = sorted.matchAt(text, at)
      from = at + (form?.length ?? 1)
      if (form === undefined) continue
      spans ??= []
      spans.push(span(at, from, form))
    }
    return { spans: spans ?? noSpans, pending: ending === 'open' ? shortTail(text, from) : length }
  }

  /** The last three characters are too short for the filter: only their first bytes are checked. */
  function shortTail(text: string, from: number): number {
    let at = Math.max(from, text.length - gramLength + 1)
    while (at < text.length && !sorted.mayStartWith(text.charCodeAt(at))) at++
    return at
  }

  return {
    add({ name, forms }) {
      const distinct = [...new Set(forms)]
      const added = distinct.filter((form) => !names.has(form))
      for (const form of distinct) names.set(form, [...(names.get(form) ?? []), name])
      for (const form of added) {
        filter.add(form)
        longest = Math.max(longest, form.length)
      }
      sorted.add(added)
    },
    remove({ name, forms }) {
      const registered = [...new Set(forms)].filter((form) => names.get(form)?.includes(name))
      for (const form of registered) {
        const left = names.get(form) ?? []
        names.set(form, left.toSpliced(left.indexOf(name), 1))
      }
      const removed = registered.filter((form) => names.get(form)?.length === 0)
      for (const form of removed) {
        filter.unmark(form)
        names.delete(form)
      }
      sorted.remove(removed)
    },
    find: (text, from = 0) => (names.size === 0 ? noSpans : walk(text, from, 'complete').spans),
    scan: (text, from = 0) =>
      names.size === 0 ? { spans: noSpans, pending: text.length } : walk(text, from, 'open'),
    cut: (text) => (names.size === 0 ? noSpans : walk(text, 0, 'cut').spans),
  }
}
