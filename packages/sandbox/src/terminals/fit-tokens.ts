import { completeCharacters } from '../output/head-and-tail.ts'

const bytesPerToken = 4

/** The output of a process: its head, the number of skipped bytes, and its tail. Both parts are complete UTF-8. */
export interface WrittenOutput {
  readonly head: Buffer
  readonly skipped: number
  /** Empty while no bytes are skipped. */
  readonly tail: Buffer
  readonly lines: number
}

export interface FittedOutput {
  readonly output: string
  /** Set only if output was left out. */
  readonly originalTokenCount?: number
}

/**
 * Fits output into a number of tokens: its head and tail in equal shares, with the notes before and between them counted
 * in. A budget too small for the notes holds the head alone.
 */
export function fitTokens({ head, skipped, tail, lines }: WrittenOutput, maxTokens: number): FittedOutput {
  const bytes = head.length + skipped + tail.length
  const originalTokenCount = tokensIn(bytes)
  if (skipped === 0 && originalTokenCount <= maxTokens) return { output: head.toString('utf8') }
  const budget = maxTokens * bytesPerToken
  const total = `Total output lines: ${lines}\n\n`
  // The final number has no more digits than this one.
  const note = Buffer.byteLength(truncated(originalTokenCount))
  const prefix = budget >= total.length + note ? total : ''
  const available = budget - prefix.length - note
  if (available < 0) return { output: beginning(head, budget).toString('utf8'), originalTokenCount }
  const before = beginning(head, Math.floor(available / 2))
  const after = ending(skipped === 0 ? head : tail, available - before.length)
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

function beginning(bytes: Buffer, available: number): Buffer {
  const cut = bytes.subarray(0, available)
  return cut.subarray(0, completeCharacters(cut))
}

function ending(bytes: Buffer, available: number): Buffer {
  let from = Math.max(0, bytes.length - available)
  while (from < bytes.length && ((bytes[from] ?? 0) & 0xc0) === 0x80) from += 1
  return bytes.subarray(from)
}
