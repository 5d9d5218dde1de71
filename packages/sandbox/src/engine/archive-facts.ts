import { type LeftOut, type Unpacked, VitrineError } from '@vitrine/protocol'

type Facts = Readonly<Record<string, unknown>>

/** The most left-out entries that an event lists; the result of the call lists more. */
const maxNamed = 100

export function unpackedFacts({ files, directories, links, bytes, leftOut, leftOutCount }: Unpacked): Facts {
  return {
    files,
    directories,
    links,
    bytes,
    ...leftOutFacts(leftOut, leftOutCount),
  }
}

export function leftOutFacts(leftOut: readonly LeftOut[], leftOutCount: number): Facts {
  if (leftOutCount === 0) return {}
  const named = leftOut.slice(0, maxNamed).map(({ path, kind }) => ({ path: path.toWellFormed(), kind }))
  return { leftOut: named, leftOutCount }
}

export function checkArchive<T>(archive: T): T {
  if (archive instanceof Uint8Array || archive instanceof ReadableStream) return archive
  const got = archive === null ? 'null' : typeof archive
  throw new VitrineError('argument_invalid', `archive: expected bytes or a stream of bytes, got ${got}.`)
}
