/** The kinds of members that archive formats know. */
export type MemberKind = 'file' | 'directory' | 'symlink' | 'hardlink' | 'fifo' | 'socket' | 'device'

/** One member of an archive, as the archive tells it. */
export interface Member {
  /** In exact text. */
  readonly name: string
  readonly kind: MemberKind
  /** All twelve bits. */
  readonly mode: number
  /** Seconds since 1970. */
  readonly mtime: number
  /** Of the file as it will be. */
  readonly size: number
  /** Where a link points. */
  readonly target: string
}

/** Where something of a sparse file lies. Between these are zeros. */
export interface Extent {
  readonly at: number
  readonly length: number
}
