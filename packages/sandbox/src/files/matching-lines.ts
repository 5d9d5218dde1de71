import { readSync } from 'node:fs'

export const blockBytes = 256 * 1024
/** What has no line break for so long is cut there. */
const maxLineBytes = 1024 * 1024
const maxTextLength = 500

export interface MatchingLine {
  readonly line: number
  readonly text: string
}

/** The lines of an open file that hold a text. Nothing of a file that is not text. */
export function* matchingLines(
  fd: number,
  wanted: string,
  ignoreCase: boolean,
  /** To read into, for all files of a search. */
  block: Buffer,
): Generator<MatchingLine | undefined> {
  const needle = ignoreCase ? wanted.toLowerCase() : wanted
  const bytes = Buffer.from(wanted)
  let held: Buffer = Buffer.alloc(0)
  let line = 1
  for (let at = 0; ; ) {
    const count = readSync(fd, block, 0, block.length, at)
    const read = block.subarray(0, count)
    // Holes of sparse files too, which may be longer than any disk.
    if (read.includes(0)) return
    at += count
    const all = held.length === 0 ? read : Buffer.concat([held, read])
    const end = count === 0 || all.length > maxLineBytes ? all.length : all.lastIndexOf(10) + 1
    const whole = all.subarray(0, end)
    held = Buffer.from(all.subarray(end))
    if (ignoreCase || whole.includes(bytes)) yield* linesIn(whole.toString(), needle, ignoreCase, line)
    for (let from = whole.indexOf(10); from >= 0; from = whole.indexOf(10, from + 1)) line += 1
    if (count === 0) return
    // A breath for whoever keeps the pace.
    yield undefined
  }
}

function* linesIn(text: string, needle: string, ignoreCase: boolean, first: number): Generator<MatchingLine> {
  let line = first
  for (const one of text.split('\n')) {
    const at = (ignoreCase ? one.toLowerCase() : one).indexOf(needle)
    if (at >= 0) yield { line, text: around(one.replace(/\r$/, ''), at) }
    line += 1
  }
}

function around(text: string, at: number): string {
  if (text.length <= maxTextLength) return text
  const from = Math.max(0, Math.min(at - 100, text.length - maxTextLength))
  return `${from > 0 ? '…' : ''}${text.slice(from, from + maxTextLength)}${from + maxTextLength < text.length ? '…' : ''}`
}
