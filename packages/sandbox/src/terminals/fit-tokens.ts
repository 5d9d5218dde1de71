import { completeCharacters } from '../output/head-and-tail.ts'

const bytesPerToken = 4

/** What a process has written: its beginning, how many bytes are not here, its end. All of it is whole UTF-8. */
export interface WrittenOutput {
  readonly head: Buffer
  readonly skipped: number
  /** Empty while nothing is skipped. */
  readonly tail: Buffer
  readonly lines: number
}

export interface FittedOutput {
  readonly output: string
  /** Only where something was left out. */
  readonly originalTokenCount?: number
}

/**
 * Output in no more tokens than that: its first and its last half, with what stands between them and before them
 * counted in. A budget too small for such notes is spent on the beginning alone.
 */
export function fitTokens({ head, skipped, tail, lines }: WrittenOutput, maxTokens: number): FittedOutput {
  const bytes = head.length + skipped + tail.length
  const originalTokenCount = tokensIn(bytes)
  if (skipped === 0 && originalTokenCount <= maxTokens) return { output: head.toString('utf8') }
  const budget = maxTokens * bytesPerToken
  const total = `Total output lines: ${lines}\n\n`
  // No fewer digits than the note will have.
  const note = Buffer.byteLength(truncated(originalTokenCount))
  const prefix = budget >= total.length + note ? total : ''
  const room = budget - prefix.length - note
  if (room < 0) return { output: beginning(head, budget).toString('utf8'), originalTokenCount }
  const before = beginning(head, Math.floor(room / 2))
  const after = ending(skipped === 0 ? head : tail, room - before.length)
  const removed = tokensIn(bytes - before.length - after.length)
  const output = `${prefix}${before.toString('utf8')}${truncated(removed)}${after.toString('utf8')}`
  return { output, originalTokenCount }
}

function tokensIn(bytes: number): number {
  return Math.ceil(bytes / bytesPerToken)
}

function truncated(tokens: number): string {
  return `…${tokens} tokens truncated…`
}

function beginning(bytes: Buffer, room: number): Buffer {
  const cut = bytes.subarray(0, room)
  return cut.subarray(0, completeCharacters(cut))
}

function ending(bytes: Buffer, room: number): Buffer {
  let from = Math.max(0, bytes.length - room)
  while (from < bytes.length && ((bytes[from] ?? 0) & 0xc0) === 0x80) from += 1
  return bytes.subarray(from)
}
