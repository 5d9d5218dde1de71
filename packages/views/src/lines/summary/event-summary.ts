import type { JournalEvent } from '@vitrine/protocol'
import type { Fields } from '../../fields.ts'

/** The emphasis of a line; the caller chooses the colours. */
export type Tone = 'plain' | 'good' | 'bad' | 'warn' | 'dim' | 'accent'

/** A short summary of an event. The text is not escaped yet. */
export interface EventSummary {
  readonly tone: Tone
  readonly text: string
}

export type Summarizer = (data: Fields, event: JournalEvent) => EventSummary

/** Joins the parts that are not empty with spaces. */
export function summarize(tone: Tone, ...parts: readonly (string | undefined)[]): EventSummary {
  return { tone, text: parts.filter(Boolean).join(' ') }
}
