import { createGramFilter, gramLength } from './grams.ts'
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
  /** From here on the text is the beginning of a form, so that what follows decides; its length if nowhere. */
  readonly pending: number
}

/**
 * Finds forms in texts: from left to right, at each place the longest, never overlapping. What it costs
 * does not depend on how many forms there are.
 */
export interface Scanner {
  readonly size: number
  add(secret: NamedForms): void
  remove(secret: NamedForms): void
  /** The forms in a text that is complete. */
  find(text: string): readonly Span[]
  /** The forms in a text that may go on. */
  scan(text: string): OpenScan
  /** The forms in a text cut off by force: a form of which half or more is there counts as found. */
  cut(text: string): readonly Span[]
}

const staleLimit = 1_000

export function createScanner(secrets: Iterable<NamedForms> = []): Scanner {
  const names = new Map<string, readonly string[]>()
  const sorted = createSortedForms()
  let filter = createGramFilter(0)
  let capacity = 0
  let stale = 0
  let longest = 0
  let firstUnits = new Set<number>()

  function index(form: string): void {
    filter.mark(form)
    firstUnits.add(form.charCodeAt(0))
    longest = Math.max(longest, form.length)
  }

  function reindex(): void {
    capacity = Math.max(1_000, names.size * 2)
    filter = createGramFilter(capacity)
    firstUnits = new Set()
    longest = 0
    stale = 0
    for (const form of names.keys()) index(form)
  }

  const span = (start: number, end: number, form: string): Span => ({
    start,
    end,
    name: names.get(form)?.[0] ?? '',
  })

  function walk(text: string, ending: 'complete' | 'open' | 'cut'): OpenScan {
    const { length } = text
    let spans: Span[] | undefined
    let from = 0
    for (let at = filter.next(text, from); at !== -1; at = filter.next(text, from)) {
      if (ending !== 'complete' && length - at < longest && sorted.isBegunAt(text, at)) {
        if (ending === 'open') return { spans: spans ?? noSpans, pending: at }
        const form = sorted.begunAt(text, at)
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
    const pending = ending === 'open' ? shortTail(text, from) : length
    return { spans: spans ?? noSpans, pending }
  }

  /** The last few characters are too short for the filter. */
  function shortTail(text: string, from: number): number {
    const { length } = text
    for (let at = Math.max(from, length - gramLength + 1); at < length; at++) {
      if (firstUnits.has(text.charCodeAt(at)) && sorted.isBegunAt(text, at)) return at
    }
    return length
  }

  const scanner: Scanner = {
    get size() {
      return sorted.size
    },
    add({ name, forms }) {
      const added = [...new Set(forms)].filter((form) => !names.has(form))
      for (const form of new Set(forms)) names.set(form, [...(names.get(form) ?? []), name])
      sorted.add(added)
      if (names.size > capacity) reindex()
      else for (const form of added) index(form)
    },
    remove({ name, forms }) {
      const registered = [...new Set(forms)].filter((form) => names.has(form))
      for (const form of registered) {
        const known = names.get(form) ?? []
        const left = known.toSpliced(known.indexOf(name), known.includes(name) ? 1 : 0)
        if (left.length > 0) names.set(form, left)
        else names.delete(form)
      }
      const removed = registered.filter((form) => !names.has(form))
      sorted.remove(removed)
      stale += removed.length
      if (stale > names.size + staleLimit) reindex()
    },
    find: (text) => (sorted.size === 0 ? noSpans : walk(text, 'complete').spans),
    scan: (text) => (sorted.size === 0 ? { spans: noSpans, pending: text.length } : walk(text, 'open')),
    cut: (text) => (sorted.size === 0 ? noSpans : walk(text, 'cut').spans),
  }
  for (const secret of secrets) scanner.add(secret)
  return scanner
}
