import type { JournalItem } from '@vitrine/protocol'

/** One event as one line. JSON escapes newlines, so a line never holds more than its own end. */
export function encodeLine(item: JournalItem): string {
  return `${JSON.stringify(item)}\n`
}
