import { differs, type EntryStat } from './entry-stat.ts'
import type { DigestedContent } from './file-content.ts'
import type { Image } from './image.ts'

/** The last known state of a file. */
interface KnownState {
  readonly stat: EntryStat
  readonly digest: string | undefined
}

interface KnownStateWithImage extends KnownState {
  readonly image: Image
}

/** Whether a file that stayed at its path has the known content and permissions. */
export function isUnmodified(
  { stat, digest }: KnownState,
  now: EntryStat,
  content: DigestedContent | undefined,
): boolean {
  const difference = differs(stat, now)
  if (difference === 'yes') return false
  if (content !== undefined && digest !== undefined) return content.digest === digest
  // A changed link count explains the new ctime, so the content is presumed the same.
  return difference === 'no' || stat.links !== now.links
}

/** Whether a file has the content, the permissions and the mtime of the file that it replaced. */
export function isIdenticalReplacement(
  { stat, digest }: KnownState,
  now: EntryStat,
  content: DigestedContent | undefined,
): boolean {
  return content !== undefined && content.digest === digest && differs(stat, now) !== 'yes'
}

/** Whether a moved file has to be read to know if it was also written to. */
export function mayBeRewritten(known: KnownStateWithImage, found: EntryStat): boolean {
  // The rename itself updated the ctime, so a rewrite with a reset mtime shows only in the content.
  return known.digest !== undefined || wasUnreadable(known) || isWritten(known.stat, found)
}

/** Whether a moved file was also written to, or is readable for the first time. */
export function isRewritten(
  known: KnownStateWithImage,
  now: EntryStat,
  content: DigestedContent | undefined,
): boolean {
  if (isWritten(known.stat, now)) return true
  return content !== undefined && (wasUnreadable(known) || content.digest !== known.digest)
}

/** A file that could not be read because it was being moved is read at its new path. */
function wasUnreadable({ image }: KnownStateWithImage): boolean {
  return image.omitted === 'unreadable'
}

function isWritten(before: EntryStat, now: EntryStat): boolean {
  return now.kind === 'file' && (now.size !== before.size || now.modified !== before.modified)
}
