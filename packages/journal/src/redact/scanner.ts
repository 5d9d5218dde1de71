import { type GramFilter, gramLength } from './grams.ts'
import { createSortedForms } from './sorted-forms.ts'
import { decidedSpans, noSpans, type Span, unionSpans } from './span.ts'
import { createWrappedForms, wrappedGrams } from './wrapped-forms.ts'

/** A secret's name and the texts it may appear as. */
export interface NamedForms {
  readonly name: string
  readonly forms: readonly string[]
  /** Forms that are found with whitespace between their letters too. */
  readonly wrapped?: readonly string[]
  /** More texts that an escaped spelling may start with. They are candidates and no forms. */
  readonly starts?: readonly string[]
}

/** The result for a text that may continue. */
export interface OpenScan {
  /** They may reach beyond `pending`: the end of a match may be the beginning of another one. */
  readonly spans: readonly Span[]
  /**
   * The index where the beginning of a form starts that reaches the end of the text (only possibly, if `hold` is
   * false), or the text's length if there is none.
   */
  readonly pending: number
  /** Whether four characters or more of a form were found. Less is too common to hold events back for. */
  readonly hold: boolean
}

/** Finds secrets in texts. */
export interface SecretSearch {
  /** The forms in a text, from index `from` on. At its end, twelve characters of a form count: it may be an excerpt. */
  find(text: string, from?: number): readonly Span[]
  /** The forms in a text that may continue, from index `from` on. */
  scan(text: string, from?: number): OpenScan
  /** The forms in a truncated text: at its end, eight characters of a form or half of it count as a match. */
  cut(text: string): readonly Span[]
  /** Where `scan` finds an open form in a text in which the filter found nothing. */
  shortTail(text: string): number
}

/**
 * Finds forms in texts, also where the end of one is the beginning of another: such matches are one span. The time
 * hardly depends on the number of forms.
 */
export interface Scanner extends SecretSearch {
  readonly isEmpty: boolean
  /** Finds the candidates. */
  readonly filter: GramFilter
  /** The first index where the filter finds a candidate, or -1. */
  firstCandidate(text: string): number
  add(secret: NamedForms): void
  remove(secret: NamedForms): void
}

/** At the end of a text, so much of a form is masked. It bounds how much of a long secret can become visible. */
const cutLength = 8
const excerptLength = 12

/**
 * So many candidates inside a match are looked at, and more if it is short: all those of a secret of 120 characters in
 * hexadecimal. It bounds the time for a text of one repeated letter.
 */
const fewestInside = 64
const comparedInside = 64 * 1024

/** The longest form that starts at an index, and the beginning of a longer one. */
interface Candidate {
  readonly match: { readonly start: number; readonly end: number; readonly form: string } | undefined
  readonly open: OpenMatch | undefined
}

const noCandidates: readonly Candidate[] = []

/** The beginning of a form that reaches the end of the text. */
interface OpenMatch {
  readonly start: number
  readonly length: number
  completion(): string
}

/** The filter may be shared: marks of other scanners cost some time and do not change the result. */
export function createScanner(filter: GramFilter): Scanner {
  const names = new Map<string, readonly string[]>()
  const sorted = createSortedForms()
  const wrappedForms = createWrappedForms()
  const wrappedNames = new Map<string, readonly string[]>()
  let longest = 0

  const span = (start: number, end: number, form: string): Span => ({
    start,
    end,
    name: (names.get(form) ?? wrappedNames.get(form))?.[0] ?? '',
  })

  function literalAt(text: string, at: number): readonly Candidate[] {
    const { length } = text
    const isOpen = length - at < longest && sorted.isPrefixAt(text, at)
    const form = sorted.matchAt(text, at)
    if (form === undefined && !isOpen) return noCandidates
    const completion = () => sorted.completionAt(text, at) ?? ''
    return [
      {
        match: form === undefined ? undefined : { start: at, end: at + form.length, form },
        open: isOpen ? { start: at, length: length - at, completion } : undefined,
      },
    ]
  }

  function candidatesAt(text: string, at: number): readonly Candidate[] {
    const literal = literalAt(text, at)
    const wrapped = wrappedForms.at(text, at)
    if (wrapped.length === 0) return literal
    const candidates = wrapped.map(({ match, open }) => {
      if (open === undefined) return { match, open }
      const { start, letters } = open
      return {
        match,
        open: { start, length: letters.length, completion: () => wrappedForms.completion(letters) },
      }
    })
    return [...candidates, ...literal]
  }

  function walk(text: string, first: number, ending: TextEnd): OpenScan {
    const { length } = text
    let spans: Span[] | undefined
    let end = 0
    let inside = 0
    let next = first
    for (let at = filter.next(text, next); at !== -1; at = filter.next(text, next)) {
      if (at < end && inside-- === 0) {
        next = end
        continue
      }
      next = at + 1
      const candidates = candidatesAt(text, at)
      if (candidates.length === 0) continue
      let open: OpenMatch | undefined
      for (const { match, open: other } of candidates) {
        if (
          other !== undefined &&
          (open === undefined || other.start < open.start) &&
          isEnough(other, ending)
        )
          open = other
        if (match === undefined) continue
        if (at >= end) inside = Math.max(fewestInside, Math.floor(comparedInside / (match.end - match.start)))
        spans ??= []
        if (match.end > end || match.start < spans.at(-1)!.start)
          spans.push(span(match.start, match.end, match.form))
        end = Math.max(end, match.end)
      }
      if (open === undefined) continue
      if (ending === 'open')
        return { spans: decidedSpans(spans ?? noSpans, open.start), pending: open.start, hold: true }
      const last = span(open.start, length, open.completion())
      return { spans: unionSpans([...(spans ?? noSpans), last]), pending: length, hold: false }
    }
    const pending = ending === 'open' ? tailFrom(text) : length
    return { spans: unionSpans(spans ?? noSpans), pending, hold: false }
  }

  /** The last three characters are too short for the filter: only their first two bytes are checked. */
  function tailFrom(text: string): number {
    let at = Math.max(0, text.length - gramLength + 1)
    while (at < text.length && !sorted.mayStartWith(text.charCodeAt(at), text.charCodeAt(at + 1))) at++
    return Math.min(at, wrappedForms.shortTail(text))
  }

  return {
    get isEmpty() {
      return names.size === 0
    },
    filter,
    firstCandidate: (text) => filter.next(text, 0),
    add({ name, forms, wrapped = [], starts = [] }) {
      const added = addNames(names, name, forms)
      for (const form of added) {
        filter.add(form)
        longest = Math.max(longest, form.length)
      }
      sorted.add(added)
      const addedWrapped = addNames(wrappedNames, name, wrapped)
      for (const gram of addedWrapped.flatMap(wrappedGrams)) filter.add(gram)
      wrappedForms.add(addedWrapped)
      for (const start of starts) filter.add(start)
      sorted.addStarts(starts)
    },
    remove({ name, forms, wrapped = [], starts = [] }) {
      const removed = removeNames(names, name, forms)
      for (const form of removed) filter.unmark(form)
      sorted.remove(removed)
      const removedWrapped = removeNames(wrappedNames, name, wrapped)
      for (const gram of removedWrapped.flatMap(wrappedGrams)) filter.unmark(gram)
      wrappedForms.remove(removedWrapped)
      for (const start of starts) filter.unmark(start)
      sorted.removeStarts(starts)
    },
    find: (text, from = 0) => (names.size === 0 ? noSpans : walk(text, from, 'complete').spans),
    scan: (text, from = 0) =>
      names.size === 0 ? { spans: noSpans, pending: text.length, hold: false } : walk(text, from, 'open'),
    cut: (text) => (names.size === 0 ? noSpans : walk(text, 0, 'cut').spans),
    shortTail: (text) => (names.size === 0 ? text.length : tailFrom(text)),
  }
}

type TextEnd = 'complete' | 'open' | 'cut'

function isEnough({ length, completion }: OpenMatch, ending: TextEnd): boolean {
  if (ending === 'open') return true
  if (ending === 'complete') return length >= excerptLength
  return length >= cutLength || length * 2 >= completion().length
}

/** Adds a name to each form. Returns the forms that had none. */
function addNames(names: Map<string, readonly string[]>, name: string, forms: readonly string[]): string[] {
  const distinct = [...new Set(forms)]
  const added = distinct.filter((form) => !names.has(form))
  for (const form of distinct) names.set(form, [...(names.get(form) ?? []), name])
  return added
}

/** Removes a name from each form. Returns the forms that have none any more. */
function removeNames(
  names: Map<string, readonly string[]>,
  name: string,
  forms: readonly string[],
): string[] {
  const registered = [...new Set(forms)].filter((form) => names.get(form)?.includes(name))
  for (const form of registered) {
    const left = names.get(form) ?? []
    names.set(form, left.toSpliced(left.indexOf(name), 1))
  }
  const removed = registered.filter((form) => names.get(form)?.length === 0)
  for (const form of removed) names.delete(form)
  return removed
}
