import type { JournalEvent } from '../events/envelope.ts'

export type FileKind = 'file' | 'directory' | 'symlink' | 'other'

export interface FileStat {
  /**
   * Relative to the workspace's root, or absolute outside of it. In all paths, a byte that is not valid UTF-8 is written
   * as a lone surrogate U+DC80 to U+DCFF.
   */
  readonly path: string
  readonly kind: FileKind
  readonly size: number
  /** The permission bits. */
  readonly mode: number
  readonly modifiedAt: string
  /** The target of a symlink, unresolved. */
  readonly target?: string
}

export interface FileOptions {
  /** The user whose permissions apply and who owns created files. */
  readonly user?: string
  readonly signal?: AbortSignal
}

export interface ReadFileOptions extends FileOptions {
  /** The first byte; default 0. */
  readonly from?: number
  /** The byte after the last one; default the end of the file. */
  readonly to?: number
}

export interface WriteOptions extends FileOptions {
  readonly append?: boolean
  /** Creates missing parent directories. */
  readonly parents?: boolean
  readonly mode?: number
}

export interface ListOptions extends FileOptions {
  /** Maximum number of entries; default 10,000. */
  readonly limit?: number
}

export interface FileList {
  /** Sorted by name. */
  readonly entries: readonly FileStat[]
  /** Whether the directory has more entries than the limit. */
  readonly truncated: boolean
}

export interface SearchOptions extends FileOptions {
  /** A pattern with `*`, `**` and `?`. With a `/` it matches the path relative to the searched directory, else the name. */
  readonly name?: string
  /** A literal string to find in files. */
  readonly content?: string
  readonly ignoreCase?: boolean
  /** Names to skip; by default those that the watcher ignores. */
  readonly ignore?: readonly string[]
  /** Maximum number of hits; default 1,000. */
  readonly limit?: number
}

export interface SearchHit {
  readonly path: string
  readonly kind: FileKind
  /** The line number, from 1, of a content search. */
  readonly line?: number
  readonly text?: string
}

export interface SearchResult {
  readonly hits: readonly SearchHit[]
  /** Whether the search stopped at its limit. */
  readonly truncated: boolean
}

export type ArchiveScheme = 'tar' | 'tar.gz' | 'tar.zst' | 'zip'

export interface ArchiveOptions extends FileOptions {
  readonly scheme?: ArchiveScheme
}

/** An entry that was left out when an archive was packed or unpacked; `setuid`: only that bit was left out. */
export interface LeftOut {
  readonly path: string
  readonly kind: 'fifo' | 'socket' | 'device' | 'setuid'
}

/** The result of unpacking an archive. */
export interface Unpacked {
  readonly files: number
  readonly directories: number
  readonly links: number
  readonly bytes: number
  /** At most 1,000; `leftOutCount` is the total. */
  readonly leftOut: readonly LeftOut[]
  readonly leftOutCount: number
}

export interface FileWatchOptions {
  /** The cursor of the last event that was seen. */
  readonly after?: string
  /** Patterns of paths to leave out. */
  readonly ignore?: readonly string[]
  readonly signal?: AbortSignal
}

export interface Files {
  read(path: string, options?: ReadFileOptions): Promise<ReadableStream<Uint8Array>>
  /** Writes atomically: all of the data or nothing, also with `append`. */
  write(
    path: string,
    data: string | Uint8Array | ReadableStream<Uint8Array>,
    options?: WriteOptions,
  ): Promise<FileStat>
  list(path: string, options?: ListOptions): Promise<FileList>
  /** Does not follow a symlink at the path. */
  stat(path: string, options?: FileOptions): Promise<FileStat>
  exists(path: string, options?: FileOptions): Promise<boolean>
  mkdir(
    path: string,
    options?: FileOptions & { readonly parents?: boolean; readonly mode?: number },
  ): Promise<void>
  /** Replaces a file at the new path, but never a directory that is not empty. */
  move(from: string, to: string, options?: FileOptions & { readonly parents?: boolean }): Promise<void>
  /** With `force`, a missing file is not an error. */
  remove(
    path: string,
    options?: FileOptions & { readonly recursive?: boolean; readonly force?: boolean },
  ): Promise<void>
  chmod(path: string, mode: number, options?: FileOptions): Promise<void>
  search(path: string, options: SearchOptions): Promise<SearchResult>
  /** The `file.*` events of the journal after a cursor; by default those from the call on. */
  watch(options?: FileWatchOptions): AsyncIterableIterator<JournalEvent>
  /** Resolves once every change made before the call is in the journal. */
  flush(): Promise<void>
  /** Unpacks an archive into a directory. */
  upload(
    path: string,
    archive: ReadableStream<Uint8Array> | Uint8Array,
    options?: ArchiveOptions,
  ): Promise<Unpacked>
  /** Packs a file or directory as a tar; member names are relative to it. */
  download(path: string, options?: ArchiveOptions): Promise<ReadableStream<Uint8Array>>
  /**
   * Unpacks the archive at a path into its directory. An archive that is passed is written to that path first. Without
   * `scheme`, the file name determines the format.
   */
  extract(
    path: string,
    archive?: ReadableStream<Uint8Array> | Uint8Array,
    options?: ArchiveOptions,
  ): Promise<Unpacked>
}
