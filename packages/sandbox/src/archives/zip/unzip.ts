import { fromBytes } from '../../files/exact-text.ts'
import type { Tally } from '../limits.ts'
import type { Member } from '../member.ts'
import { invalid, refusal } from '../refusal.ts'
import type { SpooledFile } from '../spool.ts'
import type { Unpacking } from '../unpacking.ts'
import { content, isSmall, smallContent } from './content.ts'
import { readDirectory, type ZipDirectory, type ZipEntry } from './directory.ts'
import { memberOf } from './entry-member.ts'
import { entryRanges } from './ranges.ts'
import { Window } from './window.ts'

const localBytes = 30
const maxTargetBytes = 4_095
const sizesFollow = 0x8

/** Unpacks a zip, entry by entry in the order of its directory. */
export async function unzip({ fd, size }: SpooledFile, job: Unpacking, tally: Tally): Promise<void> {
  const window = new Window(fd, size)
  const { entries, offset } = await directoryOf(window, size, job, tally)
  const ranges = entryRanges(entries, offset)
  for (const entry of entries) {
    const member = memberOf(entry)
    const at = contentAt(window, entry)
    ranges.check(entry, at + entry.compressed)
    if (member.kind === 'symlink') job.begin(withTarget(window, at, entry, member))
    else {
      job.begin(member)
      if (isSmall(entry)) await job.write(smallContent(window, at, entry), 0)
      else await writeLarge(fd, at, entry, job)
    }
    job.end()
    if (job.pace.expired) await job.pace.yieldToEventLoop()
  }
}

async function directoryOf(
  window: Window,
  size: number,
  job: Unpacking,
  tally: Tally,
): Promise<ZipDirectory> {
  const reading = readDirectory(window, size, tally)
  for (;;) {
    const { done, value } = reading.next()
    if (done) return value
    if (job.pace.expired) await job.pace.yieldToEventLoop()
  }
}

/** Where the content begins. An entry's own header must say what the directory says of it. */
function contentAt(window: Window, entry: ZipEntry): number {
  const { rawName, offset, flags, method, crc, compressed, size } = entry
  const header = window.bytes(offset, localBytes + rawName.length)
  const own = {
    flags: header.readUInt16LE(6),
    method: header.readUInt16LE(8),
    nameBytes: header.readUInt16LE(26),
    name: header.toString('latin1', localBytes),
  }
  if (header.readUInt32LE(0) !== 0x04034b50) throw invalid('has an entry that is not where it should be')
  if (own.method !== method || own.name !== rawName || own.nameBytes !== rawName.length)
    throw invalid('has an entry that its directory tells differently')
  if (((own.flags ^ flags) & 0x2061) !== 0) throw invalid('has an entry that its directory tells differently')
  const agrees = (at: number, value: number) => {
    const said = header.readUInt32LE(at)
    return said === value || said === 0xffffffff
  }
  const known = agrees(14, crc) && agrees(18, compressed) && agrees(22, size)
  if ((own.flags & sizesFollow) === 0 && !known)
    throw invalid('has an entry that its directory tells differently')
  return offset + localBytes + rawName.length + header.readUInt16LE(28)
}

function withTarget(window: Window, at: number, entry: ZipEntry, member: Member): Member {
  if (entry.size > maxTargetBytes || !isSmall(entry))
    throw refusal(member.name, 'is a symbolic link with a target that cannot be')
  return { ...member, size: 0, target: fromBytes(smallContent(window, at, entry)) }
}

async function writeLarge(fd: number, at: number, entry: ZipEntry, job: Unpacking): Promise<void> {
  let written = 0
  for await (const chunk of content(fd, at, entry)) {
    await job.write(chunk, written)
    written += chunk.length
    if (job.pace.expired) await job.pace.yieldToEventLoop()
  }
}
