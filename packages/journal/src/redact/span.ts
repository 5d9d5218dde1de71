/** A range of a text to mask, and the name in its marker; an empty name means no marker. */
export interface Span {
  readonly start: number
  readonly end: number
  readonly name: string
}

export const noSpans: readonly Span[] = Object.freeze([])

/**
 * The text with every span replaced by its marker. Spans are in order and do not overlap.
 *
 * @example
 * maskSpans('key=hunter2', [{ start: 4, end: 11, name: 'KEY' }]) // 'key=[redacted:KEY]'
 */
export function maskSpans(text: string, spans: readonly Span[]): string {
  if (spans.length === 0) return text
  let masked = ''
  let from = 0
  for (const { start, end, name } of spans) {
    masked += text.slice(from, start)
    if (name !== '') masked += `[redacted:${name}]`
    from = end
  }
  return masked + text.slice(from)
}

/** The spans in order. Overlapping ones become one, with the first name. */
export function unionSpans(spans: readonly Span[]): readonly Span[] {
  if (spans.every((span, index) => index === 0 || span.start >= spans[index - 1]!.end)) return spans
  const union: Span[] = []
  for (const span of spans.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = union.at(-1)
    if (last === undefined || span.start >= last.end) union.push(span)
    else {
      const end = Math.max(last.end, span.end)
      union[union.length - 1] = { start: last.start, end, name: last.name === '' ? span.name : last.name }
    }
  }
  return union
}

/** Leaves out the spans from `pending` on, which are held back: the next scan finds them again, or longer ones. */
export function decidedSpans(spans: readonly Span[], pending: number): readonly Span[] {
  return unionSpans(spans).filter(({ start }) => start < pending)
}

/**
 * Merges two lists, each without overlapping spans. Spans of both that overlap become one, with the name of the
 * registered secret if there is one.
 */
export function mergeSpans(known: readonly Span[], guessed: readonly Span[]): readonly Span[] {
  if (guessed.length === 0) return known
  if (known.length === 0) return guessed
  const certain = new Set(known)
  const merged: Span[] = []
  let lastIsCertain = false
  for (const span of [...known, ...guessed].sort((a, b) => a.start - b.start || a.end - b.end)) {
    const last = merged.at(-1)
    if (last === undefined || span.start >= last.end) {
      merged.push(span)
      lastIsCertain = certain.has(span)
      continue
    }
    const preferred = lastIsCertain || !certain.has(span) ? [last, span] : [span, last]
    merged[merged.length - 1] = {
      start: last.start,
      end: Math.max(last.end, span.end),
      name: preferred.find(({ name }) => name !== '')?.name ?? '',
    }
    lastIsCertain ||= certain.has(span)
  }
  return merged
}
