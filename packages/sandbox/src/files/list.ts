import { opendirSync } from 'node:fs'
import { type FileList, type FileStat, VitrineError } from '@vitrine/protocol'
import { type FileContext, fileStat } from './file-context.ts'
import type { Handle } from './handle.ts'
import { type Identity, must } from './identity.ts'
import { TimeSlice } from './time-slice.ts'
import { walk } from './walk.ts'

export async function list(
  room: FileContext,
  path: string,
  { limit = 10_000, signal }: { readonly limit?: number; readonly signal?: AbortSignal },
  as: Identity | undefined,
): Promise<FileList> {
  const pace = new TimeSlice(signal)
  const { directory, told } = directoryAt(room, path, as)
  try {
    const names = firstNames(directory, limit + 1)
    const entries: FileStat[] = []
    for (const name of names.slice(0, limit).sort()) {
      if (pace.expired) await pace.yieldToEventLoop()
      const stats = directory.lstat(name)
      if (stats === undefined) continue
      const target = stats.isSymbolicLink() ? linkOf(directory, name) : undefined
      entries.push(fileStat(told === '.' ? name : `${told}/${name}`, stats, target))
    }
    return { entries, truncated: names.length > limit }
  } finally {
    directory.close()
  }
}

/** A directory to work in; to be closed. */
export function directoryAt(
  room: FileContext,
  path: string,
  as: Identity | undefined,
): { readonly directory: Handle; readonly told: string } {
  return walk(room.places, path, { as }, ({ entry, path: found }) => {
    const told = room.places.displayPath(found)
    if (entry === undefined) throw new VitrineError('file_not_found', `There is no ${told}.`)
    if (entry.kind !== 'directory')
      throw new VitrineError('file_not_directory', `${told} is not a directory.`)
    must(entry, 'read', as, told)
    must(entry, 'search', as, told)
    return { directory: entry.duplicate(), told }
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

/** Gone since it was seen, or another thing by now: then it has no target. */
function linkOf(directory: Handle, name: string): string | undefined {
  try {
    return directory.readLink(name)
  } catch {
    return undefined
  }
}
