import { opendirSync } from 'node:fs'
import { type FileIdentity, type Handle, must, TimeSlice, walk } from '@vitrine/archives'
import { type FileList, type FileStat, VitrineError } from '@vitrine/protocol'
import { type FileContext, fileStat } from './file-context.ts'

export async function list(
  context: FileContext,
  path: string,
  { limit = 10_000, signal }: { readonly limit?: number; readonly signal?: AbortSignal },
  identity: FileIdentity | undefined,
): Promise<FileList> {
  const timeSlice = new TimeSlice(signal)
  const { directory, shown } = directoryAt(context, path, identity)
  try {
    const names = firstNames(directory, limit + 1)
    const entries: FileStat[] = []
    for (const name of names.slice(0, limit).sort()) {
      if (timeSlice.expired) await timeSlice.yieldToEventLoop()
      const stats = directory.lstat(name)
      if (stats === undefined) continue
      const target = stats.isSymbolicLink() ? linkOf(directory, name) : undefined
      entries.push(fileStat(shown === '.' ? name : `${shown}/${name}`, stats, target))
    }
    return { entries, truncated: names.length > limit }
  } finally {
    directory.close()
  }
}

/** Opens the directory at a path. The caller closes it. */
export function directoryAt(
  context: FileContext,
  path: string,
  identity: FileIdentity | undefined,
): { readonly directory: Handle; readonly shown: string } {
  return walk(context.roots, path, { identity }, ({ entry, path: found }) => {
    const shown = context.roots.displayPath(found)
    if (entry === undefined) throw new VitrineError('file_not_found', `There is no ${shown}.`)
    if (entry.kind !== 'directory')
      throw new VitrineError('file_not_directory', `${shown} is not a directory.`)
    must(entry, 'read', identity, shown)
    must(entry, 'search', identity, shown)
    return { directory: entry.duplicate(), shown }
  })
}

function firstNames(directory: Handle, count: number): string[] {
  const names: string[] = []
  const reader = opendirSync(directory.self, { bufferSize: 512 })
  try {
    for (let entry = reader.readSync(); entry !== null && names.length < count; entry = reader.readSync())
      names.push(entry.name)
  } finally {
    reader.closeSync()
  }
  // Names that are not UTF-8 are read again as bytes.
  return names.some((name) => name.includes('\ufffd')) ? directory.names().slice(0, count) : names
}

/** Returns a link's target; undefined if the link was removed or replaced since it was listed. */
function linkOf(directory: Handle, name: string): string | undefined {
  try {
    return directory.readLink(name)
  } catch {
    return undefined
  }
}
