import type { ArchiveLimits, ArchiveScheme } from '@vitrine/protocol'
import type { Handle } from '../files/handle.ts'
import { TimeSlice } from '../files/time-slice.ts'
import type { Owner } from './attributes.ts'
import { type ArchiveInput, type ByteSource, pullFrom } from './byte-source.ts'
import { expand } from './compression.ts'
import { Tally } from './limits.ts'
import { checkScheme, type TarScheme } from './scheme.ts'
import { spool } from './spool.ts'
import { TarReader } from './tar/reader.ts'
import { type UnpackedTree, Unpacking } from './unpacking.ts'
import { unzip } from './zip/unzip.ts'

export interface UnpackOptions {
  /** `sniff` tells how a tar is compressed by its first bytes. */
  readonly scheme: ArchiveScheme | 'sniff'
  /** How devices, FIFOs and sockets are handled. */
  readonly special: 'refuse' | 'leave-out'
  /** Whether symbolic links may point out of the root. */
  readonly links: 'inside' | 'any'
  /** The owner of everything that is created. */
  readonly owner?: Owner | undefined
  /** The root that links may not leave, as processes see it: absolute targets below it are inside. */
  readonly rootPath?: string | undefined
  /** The path of what is unpacked, from that root. Without one it is the root itself. */
  readonly below?: string | undefined
  readonly limits?: Partial<ArchiveLimits> | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Unpacks into an empty directory that nobody else uses. When it resolves, every rule was kept; when it rejects, the
 * directory is to be thrown away.
 */
export async function unpack(
  into: Handle,
  archive: ArchiveInput,
  options: UnpackOptions,
): Promise<UnpackedTree> {
  const { scheme, signal, owner, special, links, below = '', rootPath } = options
  if (scheme !== 'sniff') checkScheme(scheme, ['tar', 'tar.gz', 'tar.zst', 'zip'])
  const tally = new Tally(options.limits)
  const pull = pullFrom(archive, signal)
  let job: Unpacking | undefined
  try {
    const rules = { special, links, below, rootPath, tally }
    job = new Unpacking(into, owner, rules, new TimeSlice(signal))
    if (scheme === 'zip') await unpackZip(pull, into, job, tally)
    else await unpackTar(pull, scheme, job, tally)
    return await job.finish()
  } finally {
    job?.close()
    await pull.cancel()
  }
}

async function unpackTar(
  pull: ByteSource,
  scheme: TarScheme | 'sniff',
  job: Unpacking,
  tally: Tally,
): Promise<void> {
  const reader = new TarReader()
  for await (const chunk of expand(pull, scheme, tally)) {
    reader.push(chunk)
    for (let piece = reader.next(); piece !== undefined; piece = reader.next()) {
      if (piece.kind === 'member') job.begin(piece.member)
      else if (piece.kind === 'end') job.end()
      else await job.write(piece.bytes, piece.at)
      if (job.pace.expired) await job.pace.yieldToEventLoop()
    }
    job.pace.check()
  }
  reader.finish()
}

async function unpackZip(pull: ByteSource, into: Handle, job: Unpacking, tally: Tally): Promise<void> {
  const file = await spool(pull, into, tally)
  try {
    await unzip(file, job, tally)
  } finally {
    file.close()
  }
}
