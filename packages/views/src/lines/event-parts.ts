import { isGap, type JournalItem } from '@vitrine/protocol'
import { asFields } from '../fields.ts'
import { millisecondsOf } from '../moment.ts'
import { escapeForTerminal } from './escape-for-terminal.ts'
import { compact } from './summary/compact.ts'
import { type EventSummary, say, type Tone } from './summary/event-summary.ts'
import { gapSaid } from './summary/record.ts'
import { summaryOf } from './summary/summaries.ts'

/** The columns of an event's line. Every text is safe to print. */
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
  /** How many code points the whole line may have, 160 by default. */
  readonly width?: number
}

export const columns = { time: 12, seq: 6, type: 20 } as const

/** Longer types than any of ours are cut: a newer version may have them, and so may a liar. */
const maxType = 40

/**
 * An event in a few words, with a tone for whoever colours it.
 *
 * @example
 * const { tone, text } = eventParts(event)
 * console.log(tone === 'bad' ? red(text) : text)
 */
export function eventParts(item: JournalItem, options: EventLineOptions = {}): EventParts {
  const type = escapeForTerminal(String(item.type), maxType)
  const { tone, text } = saidOf(item)
  const seq = isGap(item) ? '' : String(item.seq)
  const before = columns.time + Math.max(columns.seq, seq.length) + Math.max(columns.type, type.length) + 3
  return {
    time: isGap(item) ? '' : clockOf(item.time),
    ...(!isGap(item) && { seq: item.seq }),
    type,
    tone,
    text: escapeForTerminal(text, Math.max(0, (options.width ?? 160) - before)),
  }
}

function saidOf(item: JournalItem): EventSummary {
  const data = asFields(item.data)
  if (isGap(item)) return gapSaid(data)
  const summary = summaryOf(item.type)
  return summary ? summary(data, item) : say('plain', compact(data))
}

function clockOf(time: string): string {
  const milliseconds = millisecondsOf(time)
  return milliseconds === undefined ? '' : new Date(milliseconds).toISOString().slice(11, 23)
}
