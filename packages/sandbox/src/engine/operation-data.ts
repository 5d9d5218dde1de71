import type { ArchiveOptions, FileOptions, LeftOut, Unpacked } from '@vitrine/protocol'

/** The data of an operation's started or finished event. */
export type OperationData = Readonly<Record<string, unknown>>

/** The most left-out entries that an event lists; the result of the call lists more. */
const maxNamed = 100

export function pathData(path: string, { user }: FileOptions): OperationData {
  return {
    path: typeof path === 'string' ? path.toWellFormed() : String(path),
    ...(user !== undefined && { user }),
  }
}

export function archiveData(path: string, options: ArchiveOptions): OperationData {
  return { ...pathData(path, options), ...(options.scheme !== undefined && { scheme: options.scheme }) }
}

export function unpackedData({
  files,
  directories,
  links,
  bytes,
  leftOut,
  leftOutCount,
}: Unpacked): OperationData {
  return {
    files,
    directories,
    links,
    bytes,
    ...leftOutData(leftOut, leftOutCount),
  }
}

export function leftOutData(leftOut: readonly LeftOut[], leftOutCount: number): OperationData {
  if (leftOutCount === 0) return {}
  const named = leftOut.slice(0, maxNamed).map(({ path, kind }) => ({ path: path.toWellFormed(), kind }))
  return { leftOut: named, leftOutCount }
}
