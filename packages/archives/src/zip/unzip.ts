import { decodePathText } from '@vitrine/protocol/primitives'
import type { ArchiveTally } from '../limits.ts'
import type { Member } from '../member.ts'
import { invalid, refusal } from '../refusal.ts'
import type { SpooledFile } from '../spool.ts'
import type { Unpacking } from '../unpacking.ts'
import { content, isSmall, smallContent } from './content.ts'
import { readDirectory, type ZipDirectory, type ZipEntry } from './directory.ts'
import { memberOf } from './entry-member.ts'
import { entryRanges } from './ranges.ts'
import { FileWindow } from './window.ts'

const localBytes = 30
const maxTargetBytes = 4_095
const hasDataDescriptor = 0x8

/** Unpacks a zip, entry by entry in the order of its directory. */
export async function unzip(
  { fd, size }: SpooledFile,
  unpacking: Unpacking,
  tally: ArchiveTally,
): Promise<void> {
  const window = new FileWindow(fd, size)
  const { entries, offset } = await directoryOf(window, size, unpacking, tally)
  const ranges = entryRanges(entries, offset)
  for (const entry of entries) {
    const member = memberOf(entry)
    const at = contentAt(window, entry)
    ranges.check(entry, at + entry.compressed)
    if (member.kind === 'symlink') unpacking.begin(withTarget(window, at, entry, member))
    else {
      unpacking.begin(member)
      if (isSmall(entry)) await unpacking.write(smallContent(window, at, entry), 0)
      else await writeLarge(fd, at, entry, unpacking)
    }
    unpacking.end()
    if (unpacking.timeSlice.expired) await unpacking.timeSlice.yieldToEventLoop()
  }
}

async function directoryOf(
  window: FileWindow,
  size: number,
  unpacking: Unpacking,
  tally: ArchiveTally,
): Promise<ZipDirectory> {
  const reading = readDirectory(window, size, tally)
  for (;;) {
    const { done, value } = reading.next()
    if (done) return value
    if (unpacking.timeSlice.expired) await unpacking.timeSlice.yieldToEventLoop()
  }
}

/** Returns the position of an entry's content. Its local header must match the central directory. */
function contentAt(window: FileWindow, entry: ZipEntry): number {
  const { rawName, offset, flags, method, crc, compressed, size } = entry
  const header = window.bytes(offset, localBytes + rawName.length)
  const local = {
    flags: header.readUInt16LE(6),
    method: header.readUInt16LE(8),
    nameBytes: header.readUInt16LE(26),
    name: header.toString('latin1', localBytes),
  }
  if (header.readUInt32LE(0) !== 0x04034b50)
    throw invalid('has an entry without a local header at its offset')
  if (local.method !== method || local.name !== rawName || local.nameBytes !== rawName.length)
    throw invalid('has an entry whose local header does not match the central directory')
  if (((local.flags ^ flags) & 0x2061) !== 0)
    throw invalid('has an entry whose local header does not match the central directory')
  const agrees = (at: number, value: number) => {
    const stored = header.readUInt32LE(at)
    return stored === value || stored === 0xffffffff
  }
  const known = agrees(14, crc) && agrees(18, compressed) && agrees(22, size)
  if ((local.flags & hasDataDescriptor) === 0 && !known)
    throw invalid('has an entry whose local header does not match the central directory')
  return offset + localBytes + rawName.length + header.readUInt16LE(28)
}

function withTarget(window: FileWindow, at: number, entry: ZipEntry, member: Member): Member {
  if (entry.size > maxTargetBytes || !isSmall(entry))
    throw refusal(member.name, 'is a symbolic link with an invalid target')
  return { ...member, size: 0, target: decodePathText(smallContent(window, at, entry)) }
}

async function writeLarge(fd: number, at: number, entry: ZipEntry, unpacking: Unpacking): Promise<void> {
  let written = 0
  for await (const chunk of content(fd, at, entry)) {
    await unpacking.write(chunk, written)
    written += chunk.length
    if (unpacking.timeSlice.expired) await unpacking.timeSlice.yieldToEventLoop()
  }
}
