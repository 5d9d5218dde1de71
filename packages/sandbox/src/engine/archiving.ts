import { constants, fstatSync, openSync } from 'node:fs'
import { posix } from 'node:path'
import {
  type ArchiveInput,
  ArchiveTally,
  byteSourceOf,
  type ClosingOptions,
  checkScheme,
  closingStream,
  type FileIdentity,
  fileByteSource,
  type Handle,
  maxLeftOut,
  merge,
  must,
  mustChange,
  packSource,
  refusal,
  replaceContents,
  schemeOfName,
  type TarScheme,
  type UnpackOptions,
  unpack,
  walk,
} from '@vitrine/archives'
import type {
  ArchiveLimits,
  ArchiveOptions,
  ArchiveScheme,
  ByteStream,
  LeftOut,
  Unpacked,
} from '@vitrine/protocol'
import { VitrineError } from '@vitrine/protocol'
import { toWebStream } from '@vitrine/protocol/primitives'
import { makeDirectories } from '../files/change.ts'
import { type FileContext, mustBeWritable, ownerAt, rootAccess } from '../files/file-context.ts'
import { directoryAt } from '../files/list.ts'
import { openFile } from '../files/read.ts'
import { stagingInside } from '../files/staging.ts'
import { publish, writeAll } from '../files/write.ts'
import { leftOutData, type OperationData } from './operation-data.ts'

const tarSchemes: readonly TarScheme[] = ['tar', 'tar.gz', 'tar.zst']
const allSchemes: readonly ArchiveScheme[] = [...tarSchemes, 'zip']

/** The context that all archive operations on a workspace share. */
export interface ArchiveContext {
  readonly context: FileContext
  readonly limits: ArchiveLimits
  readonly identity?: FileIdentity | undefined
  readonly signal?: AbortSignal | undefined
}

/** Unpacks a tar into a directory, which is created if it is missing. */
export async function upload(
  archiveContext: ArchiveContext,
  path: string,
  archive: ArchiveInput,
  options: ArchiveOptions,
): Promise<Unpacked> {
  const scheme = options.scheme === undefined ? 'sniff' : checkScheme(options.scheme, tarSchemes)
  return unpackInto(archiveContext, path, archive, scheme)
}

/** Unpacks an archive into the directory that holds it. If `archive` is given, it is written to `path` as well. */
export async function extract(
  archiveContext: ArchiveContext,
  path: string,
  archive: ArchiveInput | undefined,
  options: ArchiveOptions,
): Promise<Unpacked> {
  const { context, identity, limits, signal } = archiveContext
  const scheme = options.scheme === undefined ? schemeOfName(path) : checkScheme(options.scheme, allSchemes)
  const directory = posix.dirname(path)
  if (archive === undefined) {
    const { fd } = openFile(context, path, {}, identity)
    return unpackInto(archiveContext, directory, fileByteSource(fd), scheme)
  }
  const draft = context.staging.draft()
  try {
    const pull = byteSourceOf(archive, signal)
    const tally = new ArchiveTally(limits)
    try {
      for (let part = await pull.next(); part !== undefined; part = await pull.next()) {
        tally.input(part.byteLength)
        await writeAll(draft.fd, part)
      }
    } finally {
      await pull.cancel()
    }
    const source = openSync(`/proc/self/fd/${draft.fd}`, constants.O_RDONLY)
    const unpacked = await unpackInto(archiveContext, directory, fileByteSource(source), scheme, (staged) => {
      walk(context.roots, path, { identity }, ({ entry }) => {
        if (entry !== undefined && entry.kind !== 'file')
          throw new VitrineError('file_exists', `${path} exists and is not a regular file.`)
      })
      const name = posix.basename(path)
      const member = staged.entry(name)
      member?.close()
      if (member !== undefined && member.kind !== 'file')
        throw refusal(name, 'has the name of the archive itself and is not a file')
    })
    walk(context.roots, path, { identity }, (resolved) => publish(context, resolved, draft, {}, identity))
    return unpacked
  } finally {
    draft.drop()
  }
}

async function unpackInto(
  { context, limits, identity, signal }: ArchiveContext,
  path: string,
  archive: ArchiveInput,
  scheme: UnpackOptions['scheme'],
  check: (staged: Handle) => void = () => undefined,
): Promise<Unpacked> {
  const target = targetOf(context, path, identity)
  const staged = context.staging.folder()
  const trash = context.staging.folder()
  try {
    const { root: _, ...unpacked } = await unpack(staged.handle, archive, {
      scheme,
      special: 'refuse',
      links: 'inside',
      owner: ownerAt(context, target.path, identity),
      rootPath: target.root,
      below: target.below,
      limits,
      signal,
    })
    check(staged.handle)
    for (const mount of context.roots.mountsBelow(target.path)) mustNotHold(staged.handle, mount)
    makeDirectories(context, path, { parents: true }, identity)
    const { directory } = directoryAt(context, path, identity)
    try {
      await merge(staged.handle, directory, { signal, trash: trash.handle })
    } finally {
      directory.close()
    }
    return unpacked
  } finally {
    await staged.release()
    await trash.release()
  }
}

/** Rejects an entry at a mount point: it would be written below the mount, where processes do not see it. */
function mustNotHold(staged: Handle, path: string): void {
  const trail = [staged.duplicate()]
  try {
    for (const name of path.split('/')) {
      const entry = trail.at(-1)!.entry(name)
      if (entry === undefined) return
      trail.push(entry)
      if (entry.kind !== 'directory') break
    }
    throw refusal(path, 'is at a mount point')
  } finally {
    for (const handle of trail) handle.close()
  }
}

/** Resolves the target directory, which may not exist yet, and checks that it may be written. */
function targetOf(context: FileContext, path: string, identity: FileIdentity | undefined) {
  return walk(context.roots, path, { identity }, (resolved) => {
    const { entry, parent } = resolved
    const displayPath = context.roots.displayPath(resolved.path)
    if (entry !== undefined && entry.kind !== 'directory')
      throw new VitrineError('file_not_directory', `${displayPath} is not a directory.`)
    mustBeWritable(context, resolved)
    if (context.roots.hasReadOnlyBelow(resolved.path))
      throw new VitrineError('file_read_only', `${displayPath} contains a read-only path.`)
    if (entry !== undefined) must(entry, 'write', identity, displayPath)
    else if (parent !== undefined) mustChange(parent, undefined, identity, displayPath)
    const { path: root } = context.roots.of(resolved.path)
    return { path: resolved.path, root, below: resolved.path.slice(root.length + 1) }
  })
}

export interface Packing {
  readonly stream: ReadableStream<Uint8Array>
  /** The data of `operation.finished`; complete once the stream has ended. */
  endData(): OperationData
}

/** Packs a file or a directory into a tar. */
export function download(
  archiveContext: ArchiveContext,
  path: string,
  options: ArchiveOptions,
  onEnd: OnStreamEnd,
): Packing {
  const { context, identity } = archiveContext
  const scheme = checkScheme(options.scheme ?? 'tar', tarSchemes)
  return walk(context.roots, path, { identity }, ({ entry, parent, name }) => {
    if (entry === undefined) throw new VitrineError('file_not_found', `${path} does not exist.`)
    must(entry, 'read', identity, path)
    if (entry.kind === 'directory')
      return packing(archiveContext, entry.duplicate(), scheme, { onEnd, mustRemain: path })
    if (entry.kind !== 'file' || parent === undefined)
      throw new VitrineError('file_not_regular', `${path} is neither a file nor a directory.`)
    return packing(archiveContext, parent.duplicate(), scheme, { onEnd, only: name })
  })
}

/** Packs the workspace into a tar. */
export function persist(
  archiveContext: ArchiveContext,
  skip: ReadonlySet<string>,
  onEnd: OnStreamEnd,
): Packing {
  const root = archiveContext.context.roots.root.directory.duplicate()
  return packing(archiveContext, root, 'tar', { onEnd, skip: (path) => skip.has(path) })
}

export type OnStreamEnd = ClosingOptions['onEnd']

interface PackingOptions {
  readonly onEnd: OnStreamEnd
  readonly only?: string
  readonly skip?: (path: string) => boolean
  /** The path of the directory as the caller gave it, if the stream must fail when the directory is removed. */
  readonly mustRemain?: string
}

/** Owns `directory` and closes it when the stream ends, fails or is cancelled. */
function packing(
  { signal }: ArchiveContext,
  directory: Handle,
  scheme: TarScheme,
  { onEnd, only, skip = () => false, mustRemain }: PackingOptions,
): Packing {
  const leftOut: LeftOut[] = []
  let leftOutCount = 0
  let changed = 0
  const tar = packSource(directory, scheme, {
    ...(only !== undefined && { only }),
    skip: (path) => path === stagingInside || skip(path),
    onLeftOut: (path, kind) => {
      leftOutCount += 1
      if (leftOut.length < maxLeftOut) leftOut.push({ path, kind })
    },
    onChanged: () => {
      changed += 1
    },
    // Commands change a workspace while it is packed: an entry that they remove is left out.
    onVanished: () => {
      if (mustRemain !== undefined && fstatSync(directory.fd).nlink === 0)
        throw new VitrineError('file_not_found', `${mustRemain} was removed while it was being packed.`)
    },
  })
  const source = {
    ...tar,
    close: async () => {
      try {
        await tar.close()
      } finally {
        directory.close()
      }
    },
  }
  return {
    stream: closingStream(source, { signal, onEnd }),
    endData: () => ({ ...leftOutData(leftOut, leftOutCount), ...(changed > 0 && { changed }) }),
  }
}

/** Replaces the contents of the workspace by those of the archive. Entries that `keep` accepts stay. */
export async function hydrate(
  { context, limits, signal }: ArchiveContext,
  archive: ArchiveInput,
  keep: (name: string) => boolean,
): Promise<Unpacked> {
  const { root } = context.roots
  if (context.roots.hasReadOnlyBelow(root.path))
    throw new VitrineError('file_read_only', 'The workspace contains a read-only path.')
  const staged = context.staging.folder()
  const trash = context.staging.folder()
  try {
    const { root: attributes, ...unpacked } = await unpack(staged.handle, archive, {
      scheme: 'sniff',
      special: 'leave-out',
      links: 'any',
      owner: ownerAt(context, root.path, undefined),
      rootPath: root.path,
      limits,
      signal,
    })
    await replaceContents(staged.handle, root.directory, trash.handle, {
      keep: (name) => name === stagingInside || keep(name),
      attributes: attributes && { ...attributes, mode: attributes.mode | rootAccess },
    })
    return unpacked
  } finally {
    await staged.release()
    await trash.release()
  }
}

export function checkArchive(given: Uint8Array | ByteStream): Uint8Array | ReadableStream<Uint8Array> {
  const archive = toWebStream('archive', given)
  if (archive instanceof Uint8Array || archive instanceof ReadableStream) return archive
  const got = archive === null ? 'null' : typeof archive
  throw new VitrineError(
    'argument_invalid',
    `archive: expected a Uint8Array or a stream of bytes, got ${got}.`,
  )
}
