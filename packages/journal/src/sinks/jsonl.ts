import { resolve } from 'node:path'
// Not by name, see `node/require.ts` of the protocol: Node 20 lacks the function.
import * as util from 'node:util'
import { type JournalItem, VitrineError } from '@vitrine/protocol'
import { checkOptions, sinkOptions } from '@vitrine/protocol/options'
import { systemErrorCode } from '@vitrine/protocol/primitives'
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
  /** The file; only this sink may write to it. A symlink is followed, and rotated files are beside its target. */
  readonly path: string
  /** The file is rotated before it exceeds this size; default 64 MiB. A larger event gets its own file. */
  readonly maxBytes?: number
  /** The number of rotated files, with `<path>.1` the newest; default 5. Older ones are deleted. */
  readonly keep?: number
  /** Whether a written batch survives power loss, not only a process crash. */
  readonly fsync?: boolean
}

const chunkBytes = 1024 * 1024

/**
 * Appends one event per line to a file, readable by its owner only, and rotates it. Lines are complete: a partial
 * line left by a crash or a full disk is removed before the next write. A crash in the middle of a batch may repeat
 * complete lines; `journal` and `seq` identify them.
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
  /** Whether it starts a new file, because the one before is full. */
  readonly opensFile: boolean
}

/** Splits events into writes of complete lines for one file, encoded lazily. */
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

/** Converts a system error to one with the path and the system's code; returns other errors unchanged. */
function unwritableError(path: string, error: unknown): unknown {
  if (!(error instanceof Error) || !('errno' in error) || typeof error.errno !== 'number') return error
  const systemCode = systemErrorCode(error) ?? 'unknown'
  return new VitrineError(
    'sink_unwritable',
    `Expected to append to ${path}, got ${systemCode} (${util.getSystemErrorMessage(error.errno)}).`,
    { cause: error, details: { path, systemCode } },
  )
}
