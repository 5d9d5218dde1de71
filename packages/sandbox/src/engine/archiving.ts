import { constants, openSync } from 'node:fs'
import { posix } from 'node:path'
import type { ArchiveLimits, ArchiveOptions, ArchiveScheme, LeftOut, Unpacked } from '@vitrine/protocol'
import { VitrineError } from '@vitrine/protocol'
import { type ArchiveInput, pullFile, pullFrom } from '../archives/byte-source.ts'
import { Tally } from '../archives/limits.ts'
import { merge } from '../archives/merge.ts'
import { packSource } from '../archives/pack-source.ts'
import { refusal } from '../archives/refusal.ts'
import { replaceContents } from '../archives/replace-contents.ts'
import { checkScheme, schemeOfName, type TarScheme } from '../archives/scheme.ts'
import { type UnpackOptions, unpack } from '../archives/unpack.ts'
import { maxLeftOut } from '../archives/unpacking.ts'
import { makeDirectories } from '../files/change.ts'
import { type ClosingOptions, closingStream } from '../files/closing-stream.ts'
import { type FileContext, mustBeWritable, ownerAt } from '../files/file-context.ts'
import type { Handle } from '../files/handle.ts'
import { type FileIdentity, must, mustChange } from '../files/identity.ts'
import { directoryAt } from '../files/list.ts'
import { openFile } from '../files/read.ts'
import { stagingInside } from '../files/staging.ts'
import { walk } from '../files/walk.ts'
import { publish, writeAll } from '../files/write.ts'
import { leftOutFacts } from './archive-facts.ts'

const tarSchemes: readonly TarScheme[] = ['tar', 'tar.gz', 'tar.zst']
const allSchemes: readonly ArchiveScheme[] = [...tarSchemes, 'zip']

/** What ways in and out of a workspace share. */
export interface Archiving {
  readonly room: FileContext
  readonly limits: ArchiveLimits
  readonly as?: FileIdentity | undefined
  readonly signal?: AbortSignal | undefined
}

/** Unpacks a tar into a directory, which is made where it is missing. */
export async function upload(
  archiving: Archiving,
  path: string,
  archive: ArchiveInput,
  options: ArchiveOptions,
): Promise<Unpacked> {
  const scheme = options.scheme === undefined ? 'sniff' : checkScheme(options.scheme, tarSchemes)
  return unpackInto(archiving, path, archive, scheme)
}

/** Unpacks an archive into the directory that it lies in, where it is put first when it is given. */
export async function extract(
  archiving: Archiving,
  path: string,
  archive: ArchiveInput | undefined,
  options: ArchiveOptions,
): Promise<Unpacked> {
  const { room, as, limits, signal } = archiving
  const scheme = options.scheme === undefined ? schemeOfName(path) : checkScheme(options.scheme, allSchemes)
  const directory = posix.dirname(path)
  if (archive === undefined) {
    const { fd } = openFile(room, path, {}, as)
    return unpackInto(archiving, directory, pullFile(fd), scheme)
  }
  const draft = room.staging.draft()
  try {
    const pull = pullFrom(archive, signal)
    const tally = new Tally(limits)
    try {
      for (let part = await pull.next(); part !== undefined; part = await pull.next()) {
        tally.input(part.byteLength)
        await writeAll(draft.fd, part)
      }
    } finally {
      await pull.cancel()
    }
    const source = openSync(`/proc/self/fd/${draft.fd}`, constants.O_RDONLY)
    const unpacked = await unpackInto(archiving, directory, pullFile(source), scheme, (staged) => {
      walk(room.places, path, { as }, ({ entry }) => {
        if (entry !== undefined && entry.kind !== 'file')
          throw new VitrineError('file_exists', `There is something else at ${path} already.`)
      })
      const name = posix.basename(path)
      const member = staged.entry(name)
      member?.close()
      if (member !== undefined && member.kind !== 'file')
        throw refusal(name, 'is no file and has the name of the archive itself')
    })
    walk(room.places, path, { as }, (spot) => publish(room, spot, draft, {}, as))
    return unpacked
  } finally {
    draft.drop()
  }
}

async function unpackInto(
  { room, limits, as, signal }: Archiving,
  path: string,
  archive: ArchiveInput,
  scheme: UnpackOptions['scheme'],
  check: (staged: Handle) => void = () => undefined,
): Promise<Unpacked> {
  const target = targetOf(room, path, as)
  const staged = room.staging.folder()
  const trash = room.staging.folder()
  try {
    const { root: _, ...unpacked } = await unpack(staged.handle, archive, {
      scheme,
      special: 'refuse',
      links: 'inside',
      owner: ownerAt(room, target.path, as),
      rootPath: target.root,
      below: target.below,
      limits,
      signal,
    })
    check(staged.handle)
    for (const mount of room.places.mountsBelow(target.path)) mustNotHold(staged.handle, mount)
    makeDirectories(room, path, { parents: true }, as)
    const { directory } = directoryAt(room, path, as)
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

/** It would be written below what processes see there. */
function mustNotHold(staged: Handle, path: string): void {
  const trail = [staged.duplicate()]
  try {
    for (const name of path.split('/')) {
      const entry = trail.at(-1)!.entry(name)
      if (entry === undefined) return
      trail.push(entry)
      if (entry.kind !== 'directory') break
    }
    throw refusal(path, 'has its place where something is mounted')
  } finally {
    for (const handle of trail) handle.close()
  }
}

/** Where a directory is, or will be, and what may be written there. */
function targetOf(room: FileContext, path: string, as: FileIdentity | undefined) {
  return walk(room.places, path, { as }, (spot) => {
    const { entry, parent } = spot
    const told = room.places.displayPath(spot.path)
    if (entry !== undefined && entry.kind !== 'directory')
      throw new VitrineError('file_not_directory', `${told} is not a directory.`)
    mustBeWritable(room, spot)
    if (room.places.guarded(spot.path))
      throw new VitrineError('file_read_only', `Something below ${told} may not be changed.`)
    if (entry !== undefined) must(entry, 'write', as, told)
    else if (parent !== undefined) mustChange(parent, undefined, as, told)
    const { path: root } = room.places.of(spot.path)
    return { path: spot.path, root, below: spot.path.slice(root.length + 1) }
  })
}

export interface Packing {
  readonly stream: ReadableStream<Uint8Array>
  /** What there is to say about it, complete when it has ended. */
  facts(): Readonly<Record<string, unknown>>
}

/** A file or a directory as a tar. */
export function download(archiving: Archiving, path: string, options: ArchiveOptions, ended: Ended): Packing {
  const { room, as } = archiving
  const scheme = checkScheme(options.scheme ?? 'tar', tarSchemes)
  return walk(room.places, path, { as }, ({ entry, parent, name }) => {
    if (entry === undefined) throw new VitrineError('file_not_found', `There is no ${path}.`)
    must(entry, 'read', as, path)
    if (entry.kind === 'directory') return packing(archiving, entry.duplicate(), scheme, () => false, ended)
    if (entry.kind !== 'file' || parent === undefined)
      throw new VitrineError('file_not_regular', `${path} is neither a file nor a directory.`)
    return packing(archiving, parent.duplicate(), scheme, () => false, ended, name)
  })
}

/** The workspace as a tar. */
export function persist(archiving: Archiving, skip: ReadonlySet<string>, ended: Ended): Packing {
  const root = archiving.room.places.root.directory.duplicate()
  return packing(archiving, root, 'tar', (path) => skip.has(path), ended)
}

export type Ended = ClosingOptions['ended']

/** Takes the directory and closes it when the stream ends, however that comes. */
function packing(
  { signal }: Archiving,
  directory: Handle,
  scheme: TarScheme,
  skip: (path: string) => boolean,
  ended: Ended,
  only?: string,
): Packing {
  const leftOut: LeftOut[] = []
  let leftOutCount = 0
  let changed = 0
  const tar = packSource(directory, scheme, {
    ...(only !== undefined && { only }),
    skip: (path) => path === stagingInside || skip(path),
    onLeftOut: (path, what) => {
      leftOutCount += 1
      if (leftOut.length < maxLeftOut) leftOut.push({ path, what })
    },
    onChanged: () => {
      changed += 1
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
    stream: closingStream(source, { signal, ended }),
    facts: () => ({ ...leftOutFacts(leftOut, leftOutCount), ...(changed > 0 && { changed }) }),
  }
}

/** The workspace becomes what is in the archive. `keep` names what stays of it. */
export async function hydrate(
  { room, limits, signal }: Archiving,
  archive: ArchiveInput,
  keep: (name: string) => boolean,
): Promise<Unpacked> {
  const { root } = room.places
  if (room.places.guarded(root.path))
    throw new VitrineError('file_read_only', 'Something in the workspace may not be changed.')
  const staged = room.staging.folder()
  const trash = room.staging.folder()
  try {
    const { root: attributes, ...unpacked } = await unpack(staged.handle, archive, {
      scheme: 'sniff',
      special: 'leave-out',
      links: 'any',
      owner: ownerAt(room, root.path, undefined),
      rootPath: root.path,
      limits,
      signal,
    })
    await replaceContents(staged.handle, root.directory, trash.handle, {
      keep: (name) => name === stagingInside || keep(name),
      attributes,
    })
    return unpacked
  } finally {
    await staged.release()
    await trash.release()
  }
}
