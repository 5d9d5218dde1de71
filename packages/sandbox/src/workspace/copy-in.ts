import { realpathSync, statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { applyDirectoryAttributes, Handle, merge, move, pack, unpack, walk } from '@vitrine/archives'
import { type ArchiveLimits, VitrineError } from '@vitrine/protocol'
import { makeDirectories } from '../files/change.ts'
import { type FileContext, mustBeWritable, ownerAt, withParents } from '../files/file-context.ts'
import { directoryAt } from '../files/list.ts'
import { ignoreMatcher } from '../watching/ignore.ts'
import { type FieldPath, invalid } from './invalid.ts'

export interface CopyOptions {
  readonly ignore: readonly string[]
  readonly limits: ArchiveLimits
  readonly signal?: AbortSignal
}

export interface CopyCounts {
  readonly files: number
  readonly directories: number
  readonly links: number
  readonly bytes: number
  /** FIFOs, sockets and devices, which are not copied. */
  readonly leftOut: number
  /** Files that were modified during the copy. */
  readonly changed: number
}

/** A file or directory of the host to copy. Links in its own path are resolved; links inside it are not followed. */
export interface CopySource {
  readonly path: string
  readonly kind: 'file' | 'directory'
}

export function findSource(field: FieldPath, path: string): CopySource {
  let real: string
  try {
    real = realpathSync(resolve(path))
  } catch {
    throw invalid(field, `${resolve(path)} does not exist on the host.`)
  }
  const stats = statSync(real, { throwIfNoEntry: false })
  if (stats?.isDirectory()) return { path: real, kind: 'directory' }
  if (stats?.isFile()) return { path: real, kind: 'file' }
  throw invalid(field, `${real} is neither a file nor a directory.`)
}

/** Copies a source with modes, times and links. A link that points outside the source fails the whole copy. */
export async function copyIn(
  context: FileContext,
  { path: source, kind }: CopySource,
  target: string,
  { ignore, limits, signal }: CopyOptions,
): Promise<CopyCounts> {
  const name = kind === 'file' ? basename(source) : undefined
  const from = Handle.directory(name === undefined ? source : dirname(source))
  const staged = context.staging.folder()
  const ignored = ignoreMatcher(ignore)
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
      owner: ownerAt(context, context.roots.root.path, undefined),
      limits,
      signal,
    })
    if (name === undefined) await placeDirectory(context, staged.handle, target, from, signal)
    else placeFile(context, staged.handle, name, target)
    return { files, directories, links, bytes, leftOut, changed }
  } finally {
    from.close()
    await staged.release()
  }
}

function placeFile(context: FileContext, staged: Handle, name: string, target: string): void {
  walk(context.roots, target, { follow: false }, (resolved) => {
    mustBeWritable(context, resolved)
    if (resolved.entry !== undefined) throw new VitrineError('file_exists', `${target} already exists.`)
    withParents(context, resolved, { parents: true }, (parent, last) =>
      move({ parent: staged, name }, { parent, name: last }, target),
    )
  })
}

async function placeDirectory(
  context: FileContext,
  staged: Handle,
  target: string,
  { stats }: Handle,
  signal: AbortSignal | undefined,
): Promise<void> {
  makeDirectories(context, target, { parents: true }, undefined)
  const { directory } = directoryAt(context, target, undefined)
  try {
    await merge(staged, directory, { signal })
    // The workspace directory keeps its own attributes.
    if (target === '.') return
    applyDirectoryAttributes(
      directory,
      { mode: stats.mode & 0o1777, mtime: stats.mtimeMs / 1_000 },
      undefined,
    )
  } finally {
    directory.close()
  }
}
