import type { JournalEvent } from '@vitrine/protocol'
import type { Fields } from '../../fields.ts'

/** How a line should strike the eye. What that looks like is the reader's affair. */
export type Tone = 'plain' | 'good' | 'bad' | 'warn' | 'dim' | 'accent'

/** What an event comes to, in words that are not safe to print yet. */
export interface EventSummary {
  readonly tone: Tone
  readonly text: string
}

export type Summary = (data: Fields, event: JournalEvent) => EventSummary

/** Words beside each other; those that are not known leave no hole. */
export function say(tone: Tone, ...words: readonly (string | undefined)[]): EventSummary {
  return { tone, text: words.filter(Boolean).join(' ') }
}
