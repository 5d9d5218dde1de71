import { gramLength } from './grams.ts'
import { createSortedForms } from './sorted-forms.ts'

/**
 * Forms that may be wrapped into lines of four letters or more, such as base64: whitespace and the signs of quoted
 * lines and of lists between their letters do not count.
 */
export interface WrappedForms {
  add(added: readonly string[]): void
  remove(removed: readonly string[]): void
  /** The matches that start at an index, or up to three letters before a gap that ends there. */
  at(text: string, at: number): readonly WrappedMatch[]
  /** The shortest form that starts with these letters. */
  completion(letters: string): string
  /** The index from which a form may start that is too short to be found yet. */
  shortTail(text: string): number
}

export interface WrappedMatch {
  readonly match: { readonly start: number; readonly end: number; readonly form: string } | undefined
  /** The beginning of a form that reaches the end of the text. */
  readonly open: { readonly start: number; readonly letters: string } | undefined
}

/** A longer gap ends a form, so that the end of a form is not searched in megabytes of gaps. */
const longestGap = 64
const firstWindow = 8
const noMatch: WrappedMatch = { match: undefined, open: undefined }
const noMatches: readonly WrappedMatch[] = []

/**
 * The grams of which a text with this form has at least one. A line break after one to three letters leaves the gram
 * behind it intact. Bytes in hexadecimal are often separated.
 */
export function wrappedGrams(form: string): string[] {
  const behindBreaks = [1, 2, 3].map((offset) => form.slice(offset, offset + gramLength))
  return [...new Set([...firstGrams(form), ...behindBreaks])].filter((gram) => gram.length === gramLength)
}

/** The grams that a text with this form may start with. */
function firstGrams(form: string): string[] {
  const grams = [form.slice(0, gramLength)]
  if (/^[\da-f]*$/i.test(form))
    for (const gap of [' ', '\n', '\r\n', '\t', ':', ', ', ','])
      grams.push(`${form.slice(0, 2)}${gap}${form[2]}`.slice(0, gramLength))
  return grams
}

export function createWrappedForms(): WrappedForms {
  const sorted = createSortedForms()
  const grams = new Map<string, number>()
  const starts = new Map<string, number>()

  function matchFrom(text: string, start: number): WrappedMatch {
    let window = unwrap(text, start, firstWindow)
    let shared = sorted.sharedAt(window.letters)
    while (shared === window.letters.length && window.ending === 'more') {
      window = unwrap(text, start, window.letters.length * 4)
      shared = sorted.sharedAt(window.letters)
    }
    if (shared < gramLength) return noMatch
    const { letters, ending } = window
    const form = sorted.matchAt(letters, 0)
    const isOpen = shared === letters.length && ending === 'text' && sorted.isPrefixAt(letters, 0)
    return {
      match: form === undefined ? undefined : { start, end: endOf(text, start, form.length), form },
      open: isOpen ? { start, letters } : undefined,
    }
  }

  function mayStartAt(text: string, at: number): boolean {
    if (isGap(text, at)) return false
    let next = at + 1
    while (next < text.length && isGap(text, next)) next++
    return sorted.mayStartWith(text.charCodeAt(at), text.charCodeAt(next))
  }

  return {
    add(added) {
      sorted.add(added)
      count(grams, added.flatMap(wrappedGrams), 1)
      count(starts, added.flatMap(firstGrams), 1)
    },
    remove(removed) {
      sorted.remove(removed)
      count(grams, removed.flatMap(wrappedGrams), -1)
      count(starts, removed.flatMap(firstGrams), -1)
    },
    at(text, at) {
      const gram = text.slice(at, at + gramLength)
      if (!grams.has(gram)) return noMatches
      const gap = gapStart(text, at)
      let found = noMatches
      for (let start = gap < at ? backOver(text, gap) : gap; start < gap; start++)
        found = withMatch(found, matchFrom(text, start))
      return starts.has(gram) ? withMatch(found, matchFrom(text, at)) : found
    },
    completion: (letters) => sorted.completionAt(letters, 0) ?? letters,
    shortTail(text) {
      if (grams.size === 0) return text.length
      const line = backOver(text, gapStart(text, text.length))
      const gap = gapStart(text, line)
      let at = gap === line ? line : backOver(text, gap)
      while (at < text.length && !mayStartAt(text, at)) at++
      return at
    },
  }
}

function count(counts: Map<string, number>, grams: readonly string[], change: 1 | -1): void {
  for (const gram of grams) {
    const left = (counts.get(gram) ?? 0) + change
    if (left === 0) counts.delete(gram)
    else counts.set(gram, left)
  }
}

/** Allocates nothing for the many candidates that are no match. */
function withMatch(found: readonly WrappedMatch[], match: WrappedMatch): readonly WrappedMatch[] {
  return match === noMatch ? found : [...found, match]
}

interface Window {
  readonly letters: string
  /** Whether the text ends here, a long gap does, or there is more. */
  readonly ending: 'text' | 'gap' | 'more'
}

/** The next letters of a text. */
function unwrap(text: string, start: number, most: number): Window {
  let letters = ''
  let last = start
  let from = start
  for (let at = start; at < text.length; at++) {
    if (isGap(text, at)) {
      letters += text.slice(from, at)
      from = at + 1
      if (at - last >= longestGap) return { letters, ending: 'gap' }
      continue
    }
    if (letters.length + at - from === most)
      return { letters: letters + text.slice(from, at), ending: 'more' }
    last = at
  }
  return { letters: letters + text.slice(from), ending: 'text' }
}

/** The index after this many letters. */
function endOf(text: string, start: number, letters: number): number {
  let at = start
  for (let left = letters; left > 0; at++) if (!isGap(text, at)) left--
  return at
}

/** The start of the gap that ends at this index. */
function gapStart(text: string, end: number): number {
  let at = end
  while (at > 0 && end - at < longestGap && isGap(text, at - 1)) at--
  return at
}

/** The start of the last three letters or fewer that end at this index. */
function backOver(text: string, end: number): number {
  let at = end
  while (at > 0 && end - at < gramLength - 1 && !isGap(text, at - 1)) at--
  return at
}

/** Neither base64 nor hexadecimal has one of these. */
const gapUnits = new Uint8Array(128)
for (const sign of ' \t\n\v\f\r"\',:;>|[]') gapUnits[sign.charCodeAt(0)] = 1

function isGap(text: string, at: number): boolean {
  return gapUnits[text.charCodeAt(at)] === 1
}
