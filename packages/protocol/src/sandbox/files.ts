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
  /** Whether missing parent directories are created; default true. */
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

/** How far a directory was transferred. */
export interface DirectoryProgress {
  /** Files, directories and links so far. */
  readonly entries: number
  /** Bytes of their archive so far. */
  readonly bytes: number
}

export interface UploadDirectoryOptions extends FileOptions {
  /** The directory of the sandbox, which is created if it is missing; default the workspace. */
  readonly to?: string
  /** Called for each part that was read, and at the end. */
  readonly onProgress?: (progress: DirectoryProgress) => void
}

export interface DownloadDirectoryOptions extends FileOptions {
  /** The directory of the sandbox; default the workspace. */
  readonly from?: string
  /** Called for each part that was unpacked, and at the end. */
  readonly onProgress?: (progress: DirectoryProgress) => void
}

export interface FileWatchOptions {
  /** The cursor of the last event that was seen. */
  readonly after?: string
  /** Patterns of paths to leave out. */
  readonly ignore?: readonly string[]
  readonly signal?: AbortSignal
}

/** A web stream, a Node `Readable`, or another async iterable of bytes. */
export type ByteStream = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

export interface Files {
  read(path: string, options?: ReadFileOptions): Promise<ReadableStream<Uint8Array>>
  /** Writes atomically: all of the data or nothing, also with `append`. */
  write(path: string, data: string | Uint8Array | ByteStream, options?: WriteOptions): Promise<FileStat>
  list(path: string, options?: ListOptions): Promise<FileList>
  /** Does not follow a symlink at the path. */
  stat(path: string, options?: FileOptions): Promise<FileStat>
  exists(path: string, options?: FileOptions): Promise<boolean>
  /** With `parents`, creates missing parent directories too, and accepts a directory that exists. */
  mkdir(
    path: string,
    options?: FileOptions & { readonly parents?: boolean; readonly mode?: number },
  ): Promise<void>
  /**
   * Replaces a file at the new path, but never a directory that is not empty. Missing parent directories are created
   * unless `parents` is false.
   */
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
  upload(path: string, archive: ByteStream | Uint8Array, options?: ArchiveOptions): Promise<Unpacked>
  /** Packs a file or directory as a tar; member names are relative to it. */
  download(path: string, options?: ArchiveOptions): Promise<ReadableStream<Uint8Array>>
  /**
   * Uploads a directory of the caller's machine: all of it or nothing. Files at the same paths are replaced, others stay.
   * For Node on Linux; elsewhere use `upload`.
   */
  uploadDirectory(directory: string, options?: UploadDirectoryOptions): Promise<Unpacked>
  /**
   * Downloads a directory into one of the caller's machine, which is created if it is missing: all of it or nothing. A link
   * that leads out of the directory is refused. For Node on Linux; elsewhere use `download`.
   */
  downloadDirectory(directory: string, options?: DownloadDirectoryOptions): Promise<Unpacked>
  /**
   * Unpacks the archive at a path into its directory. An archive that is passed is written to that path first. Without
   * `scheme`, the file name determines the format.
   */
  extract(path: string, archive?: ByteStream | Uint8Array, options?: ArchiveOptions): Promise<Unpacked>
}
