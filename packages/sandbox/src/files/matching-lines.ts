import { readSync } from 'node:fs'

export const blockBytes = 256 * 1024
/** Longer lines are cut. */
const maxLineBytes = 1024 * 1024
const maxTextLength = 500

export interface MatchingLine {
  readonly line: number
  readonly text: string
}

/** Yields the lines of an open file that contain a text, and undefined after each block. Binary files yield none. */
export function* matchingLines(
  fd: number,
  wanted: string,
  ignoreCase: boolean,
  /** The read buffer, shared by all files of a search. */
  block: Buffer,
): Generator<MatchingLine | undefined> {
  const needle = ignoreCase ? wanted.toLowerCase() : wanted
  const bytes = Buffer.from(wanted)
  let held: Buffer = Buffer.alloc(0)
  let line = 1
  for (let at = 0; ; ) {
    const count = readSync(fd, block, 0, block.length, at)
    const read = block.subarray(0, count)
    // A NUL byte means binary. This also stops at the hole of a sparse file, which may be larger than any disk.
    if (read.includes(0)) return
    at += count
    const all = held.length === 0 ? read : Buffer.concat([held, read])
    const end = count === 0 || all.length > maxLineBytes ? all.length : all.lastIndexOf(10) + 1
    const whole = all.subarray(0, end)
    held = Buffer.from(all.subarray(end))
    if (ignoreCase || whole.includes(bytes)) yield* linesIn(whole.toString(), needle, ignoreCase, line)
    for (let from = whole.indexOf(10); from >= 0; from = whole.indexOf(10, from + 1)) line += 1
    if (count === 0) return
    // Lets the caller yield to the event loop.
    yield undefined
  }
}

function* linesIn(text: string, needle: string, ignoreCase: boolean, first: number): Generator<MatchingLine> {
  let line = first
  for (const one of text.split('\n')) {
    const at = (ignoreCase ? one.toLowerCase() : one).indexOf(needle)
    if (at >= 0) yield { line, text: excerptAround(one.replace(/\r$/, ''), at) }
    line += 1
  }
}

function excerptAround(text: string, at: number): string {
  if (text.length <= maxTextLength) return text
  const from = Math.max(0, Math.min(at - 100, text.length - maxTextLength))
  return `${from > 0 ? '…' : ''}${text.slice(from, from + maxTextLength)}${from + maxTextLength < text.length ? '…' : ''}`
}
