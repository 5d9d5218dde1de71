import type { Journal } from '@vitrine/journal'
import type { StderrExcerpt } from './transport.ts'

const headLines = 20
const tailLines = 50
const maxLineChars = 2_000

/** Keeps the first 20 and the last 50 lines, and counts all of them. */
export class StderrLines {
  readonly #head: string[] = []
  readonly #tail: string[] = []
  readonly #decoder = new TextDecoder()
  #open = ''
  #lines = 0

  take(bytes: Uint8Array): void {
    const parts = (this.#open + this.#decoder.decode(bytes, { stream: true })).split('\n')
    this.#open = (parts.pop() ?? '').slice(0, 2 * maxLineChars)
    for (const line of parts) this.#add(line)
  }

  /** Leaves out the last word of a line that a running agent has not finished: it may be half of a secret. */
  excerpt(agent: 'running' | 'exited' = 'exited'): StderrExcerpt {
    const unfinished = agent === 'running' ? this.#open.replace(/\S*$/, '') : this.#open
    const open = unfinished === '' ? [] : [shortLine(unfinished)]
    const tail = [...this.#tail, ...open]
    const lines = this.#lines + open.length
    if (lines <= headLines) return { head: [...this.#head, ...open].join('\n'), lines }
    return { head: this.#head.join('\n'), tail: tail.slice(-tailLines).join('\n'), lines }
  }

  #add(line: string): void {
    const short = shortLine(line.replace(/\r$/, ''))
    this.#lines += 1
    if (this.#head.length < headLines) this.#head.push(short)
    else {
      this.#tail.push(short)
      if (this.#tail.length > tailLines) this.#tail.shift()
    }
  }
}

/** Cuts at a space: the redactor would not recognise half of a secret. */
function shortLine(line: string): string {
  return line.length <= maxLineChars ? line : `${line.slice(0, maxLineChars).replace(/\S*$/, '')}…`
}

/** The excerpt with its secrets masked. */
export function maskedExcerpt(
  { head, tail, lines }: StderrExcerpt,
  journal: Pick<Journal, 'redactExcerpt'>,
): StderrExcerpt {
  const masked = (text: string) => {
    const bytes = Buffer.from(text)
    return Buffer.from(journal.redactExcerpt(bytes, 0, bytes.length)).toString()
  }
  return { head: masked(head), ...(tail !== undefined && { tail: masked(tail) }), lines }
}

/** Formats the last lines as the end of an error message. */
export function formatExcerpt({ head, tail, lines }: StderrExcerpt): string {
  if (lines === 0) return ''
  const shown = tail ?? head
  const last = shown.split('\n').slice(-5).join('\n')
  return `\nEnd of its stderr (${lines} ${lines === 1 ? 'line' : 'lines'} in all):\n${last}`
}
