import { type ArchiveScheme, VitrineError } from '@vitrine/protocol'

export type TarScheme = Exclude<ArchiveScheme, 'zip'>

const endings: readonly (readonly [ending: string, scheme: ArchiveScheme])[] = [
  ['.tar', 'tar'],
  ['.tar.gz', 'tar.gz'],
  ['.tgz', 'tar.gz'],
  ['.tar.zst', 'tar.zst'],
  ['.tzst', 'tar.zst'],
  ['.zip', 'zip'],
]

/** The scheme of an archive by its file extension. */
export function schemeOfName(path: string): ArchiveScheme {
  const lower = path.toLowerCase()
  const found = endings.find(([ending]) => lower.endsWith(ending))
  if (found !== undefined) return found[1]
  throw new VitrineError(
    'invalid_compression_scheme',
    `${quoted(path)} ends like no archive: expected ${endings.map(([ending]) => ending).join(', ')}.`,
  )
}

export function checkScheme<S extends ArchiveScheme>(value: unknown, allowed: readonly S[]): S {
  const found = allowed.find((scheme) => scheme === value)
  if (found !== undefined) return found
  throw new VitrineError(
    'invalid_compression_scheme',
    `scheme: expected ${allowed.join(' or ')}, got ${quoted(value)}.`,
  )
}

/** How a tar is compressed, by its first four bytes. What is neither gzip nor zstd is taken for a plain one. */
export function schemeOfBytes(start: Uint8Array): TarScheme {
  if (start[0] === 0x1f && start[1] === 0x8b) return 'tar.gz'
  if (start[0] === 0x28 && start[1] === 0xb5 && start[2] === 0x2f && start[3] === 0xfd) return 'tar.zst'
  return 'tar'
}

function quoted(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(-200).toWellFormed()) : String(value)
}
