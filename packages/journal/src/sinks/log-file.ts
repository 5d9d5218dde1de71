import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { VitrineError } from '@vitrine/protocol'
import { systemErrorCode } from '@vitrine/protocol/primitives'

/** An open file: `length` is the size up to the last complete line, `torn` whether a partial line may follow it. */
export interface LogFile {
  readonly handle: FileHandle
  readonly realPath: string
  readonly dev: bigint
  readonly ino: bigint
  length: number
  torn: boolean
}

const openFlags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT
const blockBytes = 64 * 1024

/** Opens or creates the file and truncates it to its last complete line. */
export async function openLog(path: string, fsync: boolean): Promise<LogFile> {
  const firstMade = await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const handle = await open(path, openFlags, 0o600)
  try {
    const found = await handle.stat({ bigint: true })
    if (!found.isFile()) {
      throw unwritableError(
        path,
        'to be a regular file, got another kind of file. For devices and pipes, use callbackSink().',
      )
    }
    const size = Number(found.size)
    const length = await lengthOfWholeLines(handle, size)
    if (length < size) {
      if (!(await startsLikeOurLine(handle, length))) {
        throw unwritableError(
          path,
          'to contain lines of JSON, got other content. Use a path that no other program writes to.',
        )
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

/** The length up to and including the last newline, searched backwards block by block. */
async function lengthOfWholeLines(handle: FileHandle, size: number): Promise<number> {
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

/** Whether the text after the last newline may be a partial line of this sink; power loss can leave zeros there. */
async function startsLikeOurLine(handle: FileHandle, offset: number): Promise<boolean> {
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, offset)
  return buffer[0] === 0x7b || buffer[0] === 0
}

/** False once the file was removed or replaced, for example by logrotate. */
export async function isSameFile(file: LogFile, path: string): Promise<boolean> {
  const found = await stat(path, { bigint: true }).catch((error: unknown) => {
    if (systemErrorCode(error) === 'ENOENT') return undefined
    throw error
  })
  return found !== undefined && found.ino === file.ino && found.dev === file.dev
}

/** Removes a partial line left by a failed write, and updates `length` if another program truncated the file. */
export async function repairTail(file: LogFile): Promise<void> {
  const { size } = await file.handle.stat()
  if (!file.torn || size < file.length) file.length = size
  if (file.torn) await truncateToLastLine(file)
}

/** Appends complete lines, or none of them. */
export async function append(file: LogFile, text: string, fsync: boolean): Promise<void> {
  file.torn = true
  try {
    await file.handle.appendFile(text)
    // After a failed sync it is unknown which pages reached the disk, so the write is undone too.
    if (fsync) await file.handle.datasync()
  } catch (error) {
    await truncateToLastLine(file).catch(() => undefined)
    throw error
  }
  file.torn = false
  file.length += Buffer.byteLength(text)
}

export async function truncateToLastLine(file: LogFile): Promise<void> {
  await file.handle.truncate(file.length)
  file.torn = false
}

/** Renames `path` to `path.1` and increments the older ones up to the first free number, so that a retry loses no file. */
export async function renumberOldFiles(path: string, keep: number): Promise<void> {
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

/** Syncs the file's directory and the directories created for it, so that their entries survive power loss. */
async function syncDirectories(path: string, firstMade: string | undefined): Promise<void> {
  const last = dirname(firstMade ?? path)
  let directory = path
  do {
    directory = dirname(directory)
    const handle = await open(directory, constants.O_RDONLY)
    await handle.sync().finally(() => handle.close())
  } while (directory !== last && directory !== dirname(directory))
}

function unwritableError(path: string, expected: string): VitrineError {
  return new VitrineError('sink_unwritable', `Expected ${path} ${expected}`, { details: { path } })
}
