import { realpathSync, statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { type ArchiveLimits, VitrineError } from '@vitrine/protocol'
import { settleDirectory } from '../archives/attributes.ts'
import { merge } from '../archives/merge.ts'
import { move } from '../archives/move.ts'
import { pack } from '../archives/pack.ts'
import { unpack } from '../archives/unpack.ts'
import { makeDirectories } from '../files/change.ts'
import { type FileContext, mustBeWritable, ownerAt, withParents } from '../files/file-context.ts'
import { Handle } from '../files/handle.ts'
import { directoryAt } from '../files/list.ts'
import { walk } from '../files/walk.ts'
import { ignoring } from '../watching/ignore.ts'
import { invalid, type Where } from './invalid.ts'

export interface CopyOptions {
  readonly ignore: readonly string[]
  readonly limits: ArchiveLimits
  readonly signal?: AbortSignal
}

export interface Copied {
  readonly files: number
  readonly directories: number
  readonly links: number
  readonly bytes: number
  /** FIFOs, sockets and devices, which no workspace gets. */
  readonly leftOut: number
  /** Written to while they were copied. */
  readonly changed: number
}

/** Something of this machine that can be copied. Its own path is followed; nothing in it is. */
export interface Source {
  readonly path: string
  readonly kind: 'file' | 'directory'
}

export function findSource(where: Where, path: string): Source {
  let real: string
  try {
    real = realpathSync(resolve(path))
  } catch {
    throw invalid(where, `there is no ${resolve(path)} on this machine.`)
  }
  const stats = statSync(real, { throwIfNoEntry: false })
  if (stats?.isDirectory()) return { path: real, kind: 'directory' }
  if (stats?.isFile()) return { path: real, kind: 'file' }
  throw invalid(where, `${real} is neither a file nor a directory.`)
}

/** Copies it with modes, times and links. Links that lead out of it are refused, and then nothing is copied. */
export async function copyIn(
  room: FileContext,
  { path: source, kind }: Source,
  target: string,
  { ignore, limits, signal }: CopyOptions,
): Promise<Copied> {
  const name = kind === 'file' ? basename(source) : undefined
  const from = Handle.directory(name === undefined ? source : dirname(source))
  const staged = room.staging.folder()
  const ignored = ignoring(ignore)
  let leftOut = 0
  let changed = 0
  try {
    const archive = pack(from, {
      ...(name !== undefined && { only: name }),
      ...(signal && { signal }),
      skip: (path) => name === undefined && ignored(path, basename(path)),
      onLeftOut: () => {
        leftOut += 1
      },
      onChanged: () => {
        changed += 1
      },
    })
    const { files, directories, links, bytes } = await unpack(staged.handle, archive, {
      scheme: 'tar',
      special: 'refuse',
      links: 'inside',
      owner: ownerAt(room, room.places.root.path, undefined),
      limits,
      signal,
    })
    if (name === undefined) await placeDirectory(room, staged.handle, target, from, signal)
    else placeFile(room, staged.handle, name, target)
    return { files, directories, links, bytes, leftOut, changed }
  } finally {
    from.close()
    await staged.release()
  }
}

function placeFile(room: FileContext, staged: Handle, name: string, target: string): void {
  walk(room.places, target, { follow: false }, (spot) => {
    mustBeWritable(room, spot)
    if (spot.entry !== undefined) throw new VitrineError('file_exists', `${target} already exists.`)
    withParents(room, spot, { parents: true }, (parent, last) =>
      move({ parent: staged, name }, { parent, name: last }, target),
    )
  })
}

async function placeDirectory(
  room: FileContext,
  staged: Handle,
  target: string,
  { stats }: Handle,
  signal: AbortSignal | undefined,
): Promise<void> {
  makeDirectories(room, target, { parents: true }, undefined)
  const { directory } = directoryAt(room, target, undefined)
  try {
    await merge(staged, directory, { signal })
    // The workspace itself stays as it was made.
    if (target === '.') return
    settleDirectory(directory, { mode: stats.mode & 0o1777, mtime: stats.mtimeMs / 1_000 }, undefined)
  } finally {
    directory.close()
  }
}
