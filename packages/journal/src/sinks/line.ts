import type { JournalItem } from '@vitrine/protocol'

/** One event as one line. JSON escapes newlines, so the only newline is at the end. */
export function encodeLine(item: JournalItem): string {
  return `${JSON.stringify(item)}\n`
}
