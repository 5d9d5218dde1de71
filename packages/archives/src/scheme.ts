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

/** Derives the scheme of an archive from its file extension. */
export function schemeOfName(path: string): ArchiveScheme {
  const lower = path.toLowerCase()
  const found = endings.find(([ending]) => lower.endsWith(ending))
  if (found !== undefined) return found[1]
  throw new VitrineError(
    'invalid_compression_scheme',
    `${shown(path)} has no archive extension: expected ${endings.map(([ending]) => ending).join(', ')}.`,
  )
}

export function checkScheme<S extends ArchiveScheme>(value: unknown, allowed: readonly S[]): S {
  const found = allowed.find((scheme) => scheme === value)
  if (found !== undefined) return found
  throw new VitrineError(
    'invalid_compression_scheme',
    `scheme: expected ${allowed.join(' or ')}, got ${shown(value)}.`,
  )
}

/** Detects gzip and zstd by the first four bytes; anything else is treated as an uncompressed tar. */
export function schemeOfBytes(start: Uint8Array): TarScheme {
  if (start[0] === 0x1f && start[1] === 0x8b) return 'tar.gz'
  if (start[0] === 0x28 && start[1] === 0xb5 && start[2] === 0x2f && start[3] === 0xfd) return 'tar.zst'
  return 'tar'
}

function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(-200).toWellFormed()) : String(value)
}
