import type { FileKind } from '@vitrine/protocol'

/** Where the content of a file is kept, once it is. */
export interface Image {
  hash?: string
  /** Why there is none. */
  unkept?: string
  /** A secret was taken out of it. */
  redacted?: boolean
}

/** One event to be, in the order in which it makes sense. Paths are from the root. */
export interface Change {
  readonly type: 'created' | 'changed' | 'deleted' | 'moved'
  readonly path: string
  readonly previousPath?: string
  readonly kind: FileKind
  readonly size?: number
  /** Of a file that was there before: its last image. */
  readonly before?: Image | undefined
  /** Of a file that is there now. */
  readonly after?: Image | undefined
  /** What is to be kept in `after`. */
  readonly content?: Uint8Array
}
