import { type GramFilter, gramLength } from './grams.ts'
import { createSortedForms } from './sorted-forms.ts'
import { noSpans, type Span } from './span.ts'

/** A secret by name and the texts it may appear as. */
export interface NamedForms {
  readonly name: string
  readonly forms: readonly string[]
}

/** What is certain about a text that goes on. */
export interface OpenScan {
  readonly spans: readonly Span[]
  /**
   * From here on the text is the beginning of a form, or may be one when it is shorter than four: what
   * follows decides. The text's length if there is no such place.
   */
  readonly pending: number
}

/**
 * Finds forms in texts: from left to right, at each place the longest, never overlapping. What it costs
 * hardly depends on how many forms there are.
 */
export interface Scanner {
  add(secret: NamedForms): void
  remove(secret: NamedForms): void
  /** The forms in a text that is complete, from `from` on. */
  find(text: string, from?: number): readonly Span[]
  /** The forms in a text that may go on, from `from` on. */
  scan(text: string, from?: number): OpenScan
  /** The forms in a text cut off by force: a form of which half or more is there counts as found. */
  cut(text: string): readonly Span[]
}

/** The filter may be shared: marks of others cost a look, and change nothing. */
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

  /** The last few characters are too short for the filter, and too many texts end so to look closer. */
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
        filter.mark(form)
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
