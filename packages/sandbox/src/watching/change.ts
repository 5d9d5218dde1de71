import type { FileKind } from '@vitrine/protocol'
import type { Image } from './image.ts'
import type { TreeNode } from './node.ts'

/** A change of the workspace that becomes one `file.*` event. Paths are relative to the root. */
export interface Change {
  readonly type: 'created' | 'changed' | 'deleted' | 'moved'
  readonly path: string
  readonly previousPath?: string
  readonly kind: FileKind
  readonly size?: number
  /** The last image of a file that existed before. */
  readonly before?: Image | undefined
  /** The image of a file that exists now. */
  readonly after?: Image | undefined
  /** The content to store as `after`. */
  readonly content?: Uint8Array
}

export function changeOf(type: Change['type'], { path, stat: { kind, size } }: TreeNode): Change {
  return { type, path, kind, ...(kind !== 'directory' && { size }) }
}

export function deletionOf({ stat: { kind }, image }: TreeNode, path: string): Change {
  return { type: 'deleted', path, kind, ...(kind === 'file' && { before: image }) }
}

/** The images of a change that leaves the content as it is. */
export function sameImages({ stat, image }: TreeNode): { before?: Image; after?: Image } {
  return stat.kind === 'file' ? { before: image, after: image } : {}
}
