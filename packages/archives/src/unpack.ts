import type { ArchiveLimits, ArchiveScheme } from '@vitrine/protocol'
import type { Owner } from './attributes.ts'
import { type ArchiveInput, type ByteSource, byteSourceOf } from './byte-source.ts'
import { expand } from './compression.ts'
import type { Handle } from './directories/handle.ts'
import { ArchiveTally } from './limits.ts'
import { checkScheme, type TarScheme } from './scheme.ts'
import { spool } from './spool.ts'
import { TarReader } from './tar/reader.ts'
import { TimeSlice } from './time-slice.ts'
import { type UnpackedTree, Unpacking } from './unpacking.ts'
import { unzip } from './zip/unzip.ts'

export interface UnpackOptions {
  /** `sniff` detects the compression of a tar by its first bytes. */
  readonly scheme: ArchiveScheme | 'sniff'
  /** How devices, FIFOs and sockets are handled. */
  readonly special: 'refuse' | 'leave-out'
  /** Whether symbolic links may point outside the root. */
  readonly links: 'inside' | 'any'
  /** The owner of everything that is created. */
  readonly owner?: Owner | undefined
  /** The root that links must stay in, as processes see it: absolute targets below it are inside. */
  readonly rootPath?: string | undefined
  /** The path of the unpacked directory, relative to that root; default the root itself. */
  readonly below?: string | undefined
  readonly limits?: Partial<ArchiveLimits> | undefined
  readonly signal?: AbortSignal | undefined
  /** Called for each member of a tar except the root. */
  readonly onMember?: (() => void) | undefined
}

/**
 * Unpacks into an empty directory that no other process uses. When it resolves, the whole archive has passed the rules;
 * when it rejects, the caller must discard the directory.
 */
export async function unpack(
  into: Handle,
  archive: ArchiveInput,
  options: UnpackOptions,
): Promise<UnpackedTree> {
  const { scheme, signal, owner, special, links, below = '', rootPath } = options
  if (scheme !== 'sniff') checkScheme(scheme, ['tar', 'tar.gz', 'tar.zst', 'zip'])
  const tally = new ArchiveTally(options.limits)
  const source = byteSourceOf(archive, signal)
  let unpacking: Unpacking | undefined
  try {
    const rules = { special, links, below, rootPath, tally }
    unpacking = new Unpacking(into, owner, rules, new TimeSlice(signal))
    if (scheme === 'zip') await unpackZip(source, into, unpacking, tally)
    else await unpackTar(source, scheme, unpacking, tally, options.onMember)
    return await unpacking.finish()
  } finally {
    unpacking?.close()
    await source.cancel()
  }
}

async function unpackTar(
  source: ByteSource,
  scheme: TarScheme | 'sniff',
  unpacking: Unpacking,
  tally: ArchiveTally,
  onMember: UnpackOptions['onMember'],
): Promise<void> {
  const reader = new TarReader()
  for await (const chunk of expand(source, scheme, tally)) {
    reader.push(chunk)
    for (let piece = reader.next(); piece !== undefined; piece = reader.next()) {
      if (piece.kind === 'member') {
        if (piece.holes !== undefined) tally.holes(piece.holes)
        unpacking.begin(piece.member)
        if (piece.member.name !== './') onMember?.()
      } else if (piece.kind === 'end') unpacking.end()
      else await unpacking.write(piece.bytes, piece.at)
      if (unpacking.timeSlice.expired) await unpacking.timeSlice.yieldToEventLoop()
    }
    unpacking.timeSlice.check()
  }
  reader.finish()
}

async function unpackZip(
  source: ByteSource,
  into: Handle,
  unpacking: Unpacking,
  tally: ArchiveTally,
): Promise<void> {
  const file = await spool(source, into, tally)
  try {
    await unzip(file, unpacking, tally)
  } finally {
    file.close()
  }
}
