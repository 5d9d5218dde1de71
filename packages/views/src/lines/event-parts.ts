import { isGap, type JournalItem } from '@vitrine/protocol'
import { asFields } from '../fields.ts'
import { millisecondsOf } from '../moment.ts'
import { escapeForTerminal } from '../text/escape-for-terminal.ts'
import { compact } from './summary/compact.ts'
import { type EventSummary, summarize, type Tone } from './summary/event-summary.ts'
import { gapSummary } from './summary/record.ts'
import { summaryOf } from './summary/summaries.ts'

/** The columns of an event's line. Every string is safe to print. */
export interface EventParts {
  /** `HH:MM:SS.mmm` in UTC; empty for a gap. */
  readonly time: string
  /** Absent for a gap. */
  readonly seq?: number
  readonly type: string
  readonly tone: Tone
  readonly text: string
}

export interface EventLineOptions {
  /** Maximum length of the whole line in code points, default 160. */
  readonly width?: number
}

export const columns = { time: 12, seq: 6, type: 20 } as const

/** Longer event types, of a newer version or of a malicious writer, are cut. */
const maxType = 40

/**
 * A short summary of an event, with a tone from which the caller derives a colour.
 *
 * @example
 * const { tone, text } = eventParts(event)
 * console.log(tone === 'bad' ? red(text) : text)
 */
export function eventParts(item: JournalItem, options: EventLineOptions = {}): EventParts {
  const type = escapeForTerminal(String(item.type), maxType)
  const { tone, text } = summaryOfItem(item)
  const seq = isGap(item) ? '' : String(item.seq)
  const reserved = columns.time + Math.max(columns.seq, seq.length) + Math.max(columns.type, type.length) + 3
  return {
    time: isGap(item) ? '' : clockOf(item.time),
    ...(!isGap(item) && { seq: item.seq }),
    type,
    tone,
    text: escapeForTerminal(text, Math.max(0, (options.width ?? 160) - reserved)),
  }
}

function summaryOfItem(item: JournalItem): EventSummary {
  const data = asFields(item.data)
  if (isGap(item)) return gapSummary(data)
  const summary = summaryOf(item.type)
  return summary ? summary(data, item) : summarize('plain', compact(data))
}

function clockOf(time: string): string {
  const milliseconds = millisecondsOf(time)
  return milliseconds === undefined ? '' : new Date(milliseconds).toISOString().slice(11, 23)
}
