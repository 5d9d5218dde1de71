import type { DigestedContent } from './file-content.ts'
import { type Image, untouched } from './image.ts'

/** The image of a file after a change, with the content to store as this image, if any. */
export interface ImageChoice {
  readonly after: Image
  readonly content?: Uint8Array
}

/** The last known content of a file. */
interface KnownImage {
  readonly name: string
  readonly image: Image
  readonly digest: string | undefined
}

/** Chooses the image of a file that is new or was written to. `content` is undefined if it was not read. */
export function newImage(
  name: string,
  size: number,
  content: DigestedContent | undefined,
  maxBytes: number,
): ImageChoice {
  if (isPrivate(name)) return { after: { omitted: 'private' } }
  if (size > maxBytes) return { after: { omitted: 'size' } }
  if (content === undefined) return { after: { omitted: 'unreadable' } }
  return { after: {}, content: content.bytes }
}

/** Chooses the image of a changed file. If only its permissions changed, the stored image stays valid. */
export function changedImage(
  { name, image, digest }: KnownImage,
  size: number,
  content: DigestedContent | undefined,
  maxBytes: number,
): ImageChoice {
  const isStored = content !== undefined && content.digest === digest && image !== untouched
  return isStored ? { after: image } : newImage(name, size, content, maxBytes)
}

/** Files that hold secrets by convention. Their content is compared but never stored. */
function isPrivate(name: string): boolean {
  return name.startsWith('.env')
}
