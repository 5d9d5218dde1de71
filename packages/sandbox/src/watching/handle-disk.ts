import { closeSync, constants, fstatSync, readSync, type Stats, watch as watchPath } from 'node:fs'
import { type Handle, kindOf } from '@vitrine/archives'
import { systemErrorCode } from '@vitrine/protocol/primitives'
import type { Disk, OpenDirectory, WatchedContent } from './disk.ts'
import { differs, type EntryStat } from './entry-stat.ts'
import type { TreeNode } from './node.ts'

const maxReadAttempts = 3

/** Accesses the workspace through handles, so that a link put into the path is not followed. */
export function handleDisk(root: Handle): Disk {
  return {
    open(node) {
      const handle = openNode(root, node)
      if (handle === undefined) return undefined
      if (handle.stats.ino === node.stat.ino) return new HandleDirectory(handle)
      handle.close()
      return undefined
    },
  }
}

function openNode(root: Handle, node: TreeNode): Handle | undefined {
  const { parent } = node
  if (parent === undefined) return root.duplicate()
  const above = openNode(root, parent)
  if (above === undefined) return undefined
  try {
    return directoryIn(above, node.name)
  } finally {
    above.close()
  }
}

function directoryIn(above: Handle, name: string): Handle | undefined {
  const entry = above.entry(name)
  if (entry === undefined || entry.kind === 'directory') return entry
  entry.close()
  return undefined
}

class HandleDirectory implements OpenDirectory {
  readonly #handle: Handle

  constructor(handle: Handle) {
    this.#handle = handle
  }

  names(): string[] {
    return this.#handle.names()
  }

  stat(name: string): EntryStat | undefined {
    const stats = this.#handle.lstat(name)
    return stats && entryStat(stats)
  }

  enter(name: string): OpenDirectory | undefined {
    const entry = directoryIn(this.#handle, name)
    return entry && new HandleDirectory(entry)
  }

  read(name: string, maxBytes: number): WatchedContent | undefined {
    const entry = orUndefined(() => this.#handle.entry(name))
    if (entry === undefined) return undefined
    try {
      if (entry.kind !== 'file' || entry.stats.size > maxBytes) return undefined
      const fd = orUndefined(() => entry.open(constants.O_RDONLY | constants.O_NONBLOCK))
      return fd === undefined ? undefined : readWhole(fd, maxBytes)
    } finally {
      entry.close()
    }
  }

  watch(onNotice: (name: string | null) => void): (() => void) | { readonly reason: string } {
    try {
      const watcher = watchPath(this.#handle.self, { persistent: false }, (_, name) => onNotice(name))
      // A later error means that the directory was removed.
      watcher.on('error', () => undefined)
      return () => watcher.close()
    } catch (error) {
      return { reason: reasonOf(systemErrorCode(error)) }
    }
  }

  close(): void {
    this.#handle.close()
  }
}

function reasonOf(errno: string | undefined): string {
  if (errno === 'ENOSPC')
    return 'The kernel has no more watches for this user: raise fs.inotify.max_user_watches.'
  if (errno === 'EMFILE')
    return 'The kernel has no more watchers for this user: raise fs.inotify.max_user_instances.'
  if (errno === 'EACCES') return 'It may not be read.'
  return `It cannot be watched (${errno ?? 'unknown'}).`
}

/** Reads again while the file is written to, so that the attributes belong to the bytes. */
function readWhole(fd: number, maxBytes: number): WatchedContent | undefined {
  try {
    let stat = entryStat(fstatSync(fd))
    for (let attempt = 1; stat.size <= maxBytes; attempt += 1) {
      const bytes = readBytes(fd, stat.size)
      const after = entryStat(fstatSync(fd))
      // The earlier attributes of a file that keeps changing: the next check sees that it has changed since.
      if (attempt === maxReadAttempts || differs(stat, after) === 'no') return { bytes, stat }
      stat = after
    }
    return undefined
  } catch {
    return undefined
  } finally {
    closeSync(fd)
  }
}

function readBytes(fd: number, size: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(size)
  let got = 0
  while (got < size) {
    const count = readSync(fd, bytes, got, size - got, got)
    if (count === 0) break
    got += count
  }
  return bytes.subarray(0, got)
}

/** Returns undefined for a file that cannot be opened; `watch` reports directories that are not covered. */
function orUndefined<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch {
    return undefined
  }
}

export function entryStat(stats: Stats): EntryStat {
  return {
    kind: kindOf(stats),
    ino: stats.ino,
    born: stats.birthtimeMs,
    mode: stats.mode & 0o7777,
    size: stats.size,
    modified: stats.mtimeMs,
    changed: stats.ctimeMs,
    links: stats.nlink,
    owner: stats.uid,
    group: stats.gid,
  }
}
