import type { Journal } from '@vitrine/journal'
import { type JournalItem, type LogChunk, type LogOptions, readPages } from '@vitrine/protocol'

type PageReader = Parameters<typeof readPages>[0]

interface Range extends LogOptions {
  /** The last `seq` to include. */
  readonly upTo?: number
}

const newestFirst = { order: 'desc', limit: 1_000 } as const

/** Reads a process's output from the journal: with secrets masked, and without the bytes beyond the process's budget. */
export async function readLogs(journal: PageReader, process: string, options: Range): Promise<LogChunk[]> {
  return options.tail === undefined
    ? readForwards(journal, process, options)
    : lastLines(journal, process, options, options.tail)
}

async function readForwards(
  journal: PageReader,
  process: string,
  { since, signal, upTo }: Range,
): Promise<LogChunk[]> {
  const chunks: LogChunk[] = []
  const options = { ...startAt(since), ...outputFilter(process), limit: 10_000, ...(signal && { signal }) }
  for await (const { events } of readPages(journal, options))
    for (const item of events) if (isUpTo(item, upTo)) chunks.push(...chunkOf(item, process))
  return chunks
}

async function lastLines(
  journal: PageReader,
  process: string,
  options: Range,
  count: number,
): Promise<LogChunk[]> {
  if (options.since !== undefined) return cutToLines(await readForwards(journal, process, options), count)
  const { signal, upTo } = options
  const found: LogChunk[] = []
  const pages = readPages(journal, { ...outputFilter(process), ...newestFirst, ...(signal && { signal }) })
  for await (const { events } of pages) {
    for (const item of events) if (isUpTo(item, upTo)) found.unshift(...chunkOf(item, process))
    if (linesIn(found) > count) break
  }
  return cutToLines(found, count)
}

/** Follows a process's output from the requested position until the process has ended and is not restarted. */
export async function* followLogs(
  journal: Journal,
  process: string,
  options: LogOptions,
): AsyncGenerator<LogChunk, undefined> {
  const { since, tail, signal } = options
  let after: string | undefined
  if (tail !== undefined || since !== undefined) {
    // Events up to this head come from pages, later ones from the tail.
    const { head } = journal
    yield* await readLogs(journal, process, { ...options, upTo: head.seq })
    after = journal.cursor(head)
    if (await hasEnded(journal, process, head.seq, signal)) return
  }
  const filter = { types: ['process.output', 'process.exited'], text: process }
  for await (const item of journal.tail({ ...filter, ...(after && { after }), ...(signal && { signal }) })) {
    yield* chunkOf(item, process)
    if (item.type === 'process.exited' && item.data.process === process && item.data.restarting !== true)
      return
  }
}

/** Whether the journal has a start of this process. */
export async function wasStarted(journal: PageReader, process: string): Promise<boolean> {
  for await (const { events } of readPages(journal, { types: ['process.started'], text: process }))
    if (events.some((item) => item.type === 'process.started' && item.data.process === process)) return true
  return false
}

/** Whether its last start or exit event up to this `seq` is an exit without a restart. */
async function hasEnded(
  journal: Journal,
  process: string,
  upTo: number,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const filter = { types: ['process.started', 'process.exited'], text: process }
  for await (const { events } of readPages(journal, {
    ...filter,
    ...newestFirst,
    ...(signal && { signal }),
  })) {
    for (const item of events) {
      if (!isUpTo(item, upTo)) continue
      if (item.type === 'process.started' && item.data.process === process) return false
      if (item.type === 'process.exited' && item.data.process === process)
        return item.data.restarting !== true
    }
  }
  return false
}

function isUpTo(item: JournalItem, upTo = Number.POSITIVE_INFINITY): boolean {
  return 'seq' in item && item.seq <= upTo
}

function startAt(since: string | undefined): { after?: string; at?: Date } {
  if (since === undefined) return {}
  return /^\d{4}-\d\d-\d\dT/.test(since) ? { at: new Date(since) } : { after: since }
}

function outputFilter(process: string) {
  return { types: ['process.output'], text: process }
}

function chunkOf(item: JournalItem, process: string): LogChunk[] {
  if (item.type !== 'process.output' || item.data.process !== process) return []
  const { stream, offset, data, encoding, skipped } = item.data
  // A redaction policy may have replaced the text by its length and hash.
  const bytes = typeof data === 'string' ? Buffer.from(data, encoding) : Buffer.alloc(0)
  return [{ time: item.time, stream, offset, data: bytes, ...(skipped !== undefined && { skipped }) }]
}

function linesIn(chunks: readonly LogChunk[]): number {
  return chunks.reduce(
    (sum, { data }) => sum + data.reduce((lines, byte) => lines + (byte === 10 ? 1 : 0), 0),
    0,
  )
}

/** Cuts the chunks to their last `count` lines. */
function cutToLines(chunks: readonly LogChunk[], count: number): LogChunk[] {
  if (count <= 0) return []
  const kept: LogChunk[] = []
  let breaks = 0
  let last = true
  for (const chunk of chunks.toReversed()) {
    for (let at = chunk.data.length - 1; at >= 0; at--) {
      if (chunk.data[at] !== 10) {
        last = false
        continue
      }
      // The line break that ends the last line does not start another line.
      if (last) {
        last = false
        continue
      }
      breaks += 1
      if (breaks < count) continue
      const data = chunk.data.subarray(at + 1)
      return data.length === 0 ? kept : [{ ...chunk, offset: chunk.offset + at + 1, data }, ...kept]
    }
    kept.unshift(chunk)
  }
  return kept
}
