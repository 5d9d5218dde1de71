import type { JournalItem } from '@vitrine/protocol'
import { cut } from '../text/cut.ts'
import { columns, type EventLineOptions, eventParts } from './event-parts.ts'

/**
 * An event as one line of text for a terminal or a log. Control characters in the event are escaped, so that it cannot
 * move the cursor, set a title or hide a part of the line.
 *
 * @example
 * eventLine(event) // '10:15:02.031     12 operation.finished   exec ok 12 ms'
 */
export function eventLine(item: JournalItem, options: EventLineOptions = {}): string {
  const { time, seq, type, text } = eventParts(item, options)
  const line = [
    time.padEnd(columns.time),
    String(seq ?? '').padStart(columns.seq),
    type.padEnd(columns.type),
    text,
  ].join(' ')
  return cut(line.trimEnd(), options.width ?? 160)
}
