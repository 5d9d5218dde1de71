import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { getSystemErrorMessage } from 'node:util'
import { type JournalItem, VitrineError } from '@vitrine/protocol'
import { encodeLine } from './line.ts'
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

/** The file as we know it: `length` ends with the last whole line, `torn` says that more may follow it. */
interface LogFile {
  readonly handle: FileHandle
  readonly realPath: string
  readonly dev: bigint
  readonly ino: bigint
  length: number
  torn: boolean
}

const openFlags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT
const blockBytes = 64 * 1024
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
  const { path, maxBytes, keep, fsync } = checked(options)
  let file: LogFile | undefined
  let done = { key: '', events: 0 }

  async function current(): Promise<LogFile> {
    if (file && !(await isAt(file, path))) await release()
    if (file) await settle(file)
    else file = await openLog(path, fsync)
    return file
  }

  async function release(): Promise<void> {
    const old = file
    file = undefined
    done = { key: '', events: 0 }
    if (!old) return
    if (old.torn) await cutBack(old).catch(() => undefined)
    await old.handle.close()
  }

  async function rotate(old: LogFile): Promise<LogFile> {
    file = undefined
    await old.handle.close()
    await shift(old.realPath, keep)
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
        throw unwritable(path, error)
      }
    },
    async close() {
      await release().catch((error) => {
        throw unwritable(path, error)
      })
    },
  }
}

function checked({ path, maxBytes = 64 * 1024 * 1024, keep = 5, fsync = false }: JsonlSinkOptions) {
  const refuse = (expected: string, got: unknown) =>
    new VitrineError('argument_invalid', `jsonlSink: expected ${expected}, got ${JSON.stringify(got)}.`)
  if (typeof path !== 'string' || path === '' || path.includes('\0')) {
    throw refuse('`path` to be the path of a file', path)
  }
  if (!Number.isSafeInteger(maxBytes) || maxBytes < 1) {
    throw refuse('`maxBytes` to be a whole number from 1', maxBytes)
  }
  if (!Number.isSafeInteger(keep) || keep < 0) throw refuse('`keep` to be a whole number from 0', keep)
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

async function openLog(path: string, fsync: boolean): Promise<LogFile> {
  const firstMade = await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const handle = await open(path, openFlags, 0o600)
  try {
    const found = await handle.stat({ bigint: true })
    if (!found.isFile()) {
      throw refused(path, 'to be a regular file, got a device or a pipe. For those, use callbackSink().')
    }
    const size = Number(found.size)
    const length = await wholeLines(handle, size)
    if (length < size) {
      if (!(await beginsLikeOurs(handle, length))) {
        throw refused(path, 'to hold lines of JSON, got something else. Give the sink a path of its own.')
      }
      await handle.truncate(length)
    }
    const realPath = await realpath(path)
    if (fsync) await syncDirectories(firstMade === undefined ? realPath : path, firstMade)
    return { handle, realPath, dev: found.dev, ino: found.ino, length, torn: false }
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** The length up to and with the last newline, found backwards and block by block. */
async function wholeLines(handle: FileHandle, size: number): Promise<number> {
  const block = Buffer.alloc(Math.min(size, blockBytes))
  let end = size
  while (end > 0) {
    const start = Math.max(0, end - block.length)
    const { bytesRead } = await handle.read(block, 0, end - start, start)
    const newline = block.subarray(0, bytesRead).lastIndexOf('\n')
    if (newline >= 0) return start + newline + 1
    end = start
  }
  return 0
}

/** Whether what follows the last newline may be a line of ours; power loss can leave zeros in its place. */
async function beginsLikeOurs(handle: FileHandle, offset: number): Promise<boolean> {
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, offset)
  return buffer[0] === 0x7b || buffer[0] === 0
}

/** False once the file was removed or replaced, as logrotate does. */
async function isAt(file: LogFile, path: string): Promise<boolean> {
  const found = await stat(path, { bigint: true }).catch((error) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  return found !== undefined && found.ino === file.ino && found.dev === file.dev
}

/** Removes what a failed write left, and takes over a length that others have cut meanwhile. */
async function settle(file: LogFile): Promise<void> {
  const { size } = await file.handle.stat()
  if (!file.torn || size < file.length) file.length = size
  if (file.torn) await cutBack(file)
}

async function append(file: LogFile, text: string, fsync: boolean): Promise<void> {
  file.torn = true
  try {
    await file.handle.appendFile(text)
    // A failed sync says nothing about which pages reached the disk, so it undoes the write as well.
    if (fsync) await file.handle.datasync()
  } catch (error) {
    await cutBack(file).catch(() => undefined)
    throw error
  }
  file.torn = false
  file.length += Buffer.byteLength(text)
}

async function cutBack(file: LogFile): Promise<void> {
  await file.handle.truncate(file.length)
  file.torn = false
}

/** Moves `path` to `path.1` and the older ones on, up to the first free number: a retry loses nothing. */
async function shift(path: string, keep: number): Promise<void> {
  if (keep === 0) return rm(path)
  let free = 1
  while (free < keep && (await exists(`${path}.${free}`))) free += 1
  for (let number = free; number > 1; number -= 1) {
    await rename(`${path}.${number - 1}`, `${path}.${number}`)
  }
  await rename(path, `${path}.1`)
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

/** Makes the file's name last, and those of the directories that were made for it. */
async function syncDirectories(path: string, firstMade: string | undefined): Promise<void> {
  const last = dirname(firstMade ?? path)
  let directory = path
  do {
    directory = dirname(directory)
    const handle = await open(directory, constants.O_RDONLY)
    await handle.sync().finally(() => handle.close())
  } while (directory !== last && directory !== dirname(directory))
}

function refused(path: string, expected: string): VitrineError {
  return new VitrineError('sink_unwritable', `Expected ${path} ${expected}`, { details: { path } })
}

/** What the system refused, with the path and the system's code; anything else stays as it is. */
function unwritable(path: string, error: unknown): unknown {
  if (!(error instanceof Error) || !('errno' in error) || typeof error.errno !== 'number') return error
  const systemCode = 'code' in error ? String(error.code) : 'unknown'
  return new VitrineError(
    'sink_unwritable',
    `Expected to append to ${path}, got ${systemCode} (${getSystemErrorMessage(error.errno)}).`,
    { cause: error, details: { path, systemCode } },
  )
}
