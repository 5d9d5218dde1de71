import { resolve } from 'node:path'
import { getSystemErrorMessage } from 'node:util'
import { type JournalItem, VitrineError } from '@vitrine/protocol'
import { checkOptions, sinkOptions } from '@vitrine/protocol/options'
import { encodeLine } from './line.ts'
import {
  append,
  isSameFile,
  type LogFile,
  openLog,
  renumberOldFiles,
  repairTail,
  truncateToLastLine,
} from './log-file.ts'
import type { Sink } from './sink.ts'

export interface JsonlSinkOptions {
  /** Where the lines go; this sink alone writes there. A symlink is followed, and old files lie beside its target. */
  readonly path: string
  /** A file that would grow beyond this is rotated: 64 MiB without it. A larger event gets a file of its own. */
  readonly maxBytes?: number
  /** How many old files stay, `<path>.1` being the newest: 5 without it. Older ones are deleted. */
  readonly keep?: number
  /** Whether a written batch survives power loss, and not only the death of every process. */
  readonly fsync?: boolean
}

const chunkBytes = 1024 * 1024

/**
 * Appends one event per line to a file, readable by its owner only, and rotates it. A line is there whole or
 * not at all: what a crash or a full disk cut off is removed before writing goes on. A crash in the middle of
 * a batch may repeat whole lines; `journal` and `seq` tell them apart.
 *
 * @example
 * await store.addSink('audit', jsonlSink({ path: '/var/log/vitrine/audit.jsonl', fsync: true }))
 */
export function jsonlSink(options: JsonlSinkOptions): Sink {
  const { path, maxBytes, keep, fsync } = parseOptions(options)
  let file: LogFile | undefined
  let done = { key: '', events: 0 }

  async function current(): Promise<LogFile> {
    if (file && !(await isSameFile(file, path))) await release()
    if (file) await repairTail(file)
    else file = await openLog(path, fsync)
    return file
  }

  async function release(): Promise<void> {
    const old = file
    file = undefined
    done = { key: '', events: 0 }
    if (!old) return
    if (old.torn) await truncateToLastLine(old).catch(() => undefined)
    await old.handle.close()
  }

  async function rotate(old: LogFile): Promise<LogFile> {
    file = undefined
    await old.handle.close()
    await renumberOldFiles(old.realPath, keep)
    return current()
  }

  return {
    kind: 'jsonl',
    async write({ events, key }, { signal }) {
      try {
        signal.throwIfAborted()
        let log = await current()
        if (done.key !== key) done = { key, events: 0 }
        for (const chunk of chunks(events.slice(done.events), log.length, maxBytes)) {
          signal.throwIfAborted()
          if (chunk.opensFile) log = await rotate(log)
          await append(log, chunk.text, fsync)
          done.events += chunk.events
        }
        done = { key: '', events: 0 }
      } catch (error) {
        throw unwritableError(path, error)
      }
    },
    async close() {
      await release().catch((error) => {
        throw unwritableError(path, error)
      })
    },
  }
}

function parseOptions(options: JsonlSinkOptions) {
  checkOptions('jsonlSink', sinkOptions.jsonl, options ?? {})
  const { path, fsync = false, maxBytes = 64 * 1024 * 1024, keep = 5 } = options
  return { path: resolve(path), maxBytes, keep, fsync }
}

interface Chunk {
  readonly text: string
  readonly events: number
  /** It goes into a new file, because the one before is full. */
  readonly opensFile: boolean
}

/** What is written at once: whole lines of one file, encoded only when their turn comes. */
function* chunks(events: readonly JournalItem[], length: number, maxBytes: number): Generator<Chunk> {
  let fileBytes = length
  let opensFile = false
  let text = ''
  let textBytes = 0
  let count = 0
  for (const event of events) {
    const line = encodeLine(event)
    const bytes = Buffer.byteLength(line)
    const full = fileBytes > 0 && fileBytes + bytes > maxBytes
    if (count > 0 && (full || textBytes + bytes > chunkBytes)) {
      yield { text, events: count, opensFile }
      opensFile = false
      text = ''
      textBytes = 0
      count = 0
    }
    if (full) {
      opensFile = true
      fileBytes = 0
    }
    text += line
    textBytes += bytes
    fileBytes += bytes
    count += 1
  }
  if (count > 0) yield { text, events: count, opensFile }
}

/** What the system refused, with the path and the system's code; anything else stays as it is. */
function unwritableError(path: string, error: unknown): unknown {
  if (!(error instanceof Error) || !('errno' in error) || typeof error.errno !== 'number') return error
  const systemCode = 'code' in error ? String(error.code) : 'unknown'
  return new VitrineError(
    'sink_unwritable',
    `Expected to append to ${path}, got ${systemCode} (${getSystemErrorMessage(error.errno)}).`,
    { cause: error, details: { path, systemCode } },
  )
}
