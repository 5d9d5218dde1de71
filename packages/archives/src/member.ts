/** The kind of a member as declared by the archive. */
export type MemberKind = 'file' | 'directory' | 'symlink' | 'hardlink' | 'fifo' | 'socket' | 'device'

/** A member as declared by the archive. */
export interface Member {
  /** Bytes that are not UTF-8 are escaped as in every path. */
  readonly name: string
  readonly kind: MemberKind
  /** All twelve permission bits. */
  readonly mode: number
  /** Seconds since 1970. */
  readonly mtime: number
  /** The size of the unpacked file. */
  readonly size: number
  /** The target of a link. */
  readonly target: string
}

/** A data extent of a sparse file. The gaps between extents are zeros. */
export interface Extent {
  readonly at: number
  readonly length: number
}
