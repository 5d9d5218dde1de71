import type { JournalItem } from '@vitrine/protocol'
import { eventParts, type Tone } from '@vitrine/views'
import pc from 'picocolors'

const tones: Record<Tone, (text: string) => string> = {
  plain: (text) => text,
  good: pc.green,
  bad: pc.red,
  warn: pc.yellow,
  dim: pc.dim,
  accent: pc.cyan,
}

/** One event as one coloured line. */
export function paintEvent(item: JournalItem, width: number): string {
  const { time, seq, type, tone, text } = eventParts(item, { width })
  return `${pc.dim(time.padEnd(12))} ${pc.dim(String(seq ?? '').padStart(4))} ${pc.bold(type.padEnd(20))} ${tones[tone](text)}`
}
