import type { JournalEvent } from '../events/envelope.ts'

export type FileKind = 'file' | 'directory' | 'symlink' | 'other'

export interface FileStat {
  /**
   * From the workspace's root, or absolute for what is outside of it. A byte that no text can hold stands as a lone
   * surrogate U+DC80 to U+DCFF, here and in every path that is given.
   */
  readonly path: string
  readonly kind: FileKind
  readonly size: number
  /** The permission bits. */
  readonly mode: number
  readonly modifiedAt: string
  /** Where a symlink points, as it says. */
  readonly target?: string
}

export interface FileOptions {
  /** Acts with the rights of that user, and what is made belongs to it. */
  readonly user?: string
  readonly signal?: AbortSignal
}

export interface ReadFileOptions extends FileOptions {
  /** The first byte; default 0. */
  readonly from?: number
  /** The byte to stop before; default the end. */
  readonly to?: number
}

export interface WriteOptions extends FileOptions {
  readonly append?: boolean
  /** Makes the directories that are missing. */
  readonly parents?: boolean
  readonly mode?: number
}

export interface ListOptions extends FileOptions {
  /** Default 10,000. */
  readonly limit?: number
}

export interface FileList {
  /** By name. */
  readonly entries: readonly FileStat[]
  /** There is more than the limit. */
  readonly truncated: boolean
}

export interface SearchOptions extends FileOptions {
  /** A pattern with `*`, `**` and `?`: of the name, or of the path from where the search began when it has a `/`. */
  readonly name?: string
  /** A text to find in files, as it stands. */
  readonly content?: string
  readonly ignoreCase?: boolean
  /** Names that are not looked into; default what the watcher ignores. */
  readonly ignore?: readonly string[]
  /** Default 1,000. */
  readonly limit?: number
}

export interface SearchHit {
  readonly path: string
  readonly kind: FileKind
  /** From 1, where a content was asked for. */
  readonly line?: number
  readonly text?: string
}

export interface SearchResult {
  readonly hits: readonly SearchHit[]
  /** There may be more. */
  readonly truncated: boolean
}

export type ArchiveScheme = 'tar' | 'tar.gz' | 'tar.zst' | 'zip'

export interface ArchiveOptions extends FileOptions {
  readonly scheme?: ArchiveScheme
}

/** What was in an archive and is not here now. */
export interface LeftOut {
  readonly path: string
  readonly what: 'fifo' | 'socket' | 'device' | 'setuid'
}

/** What came out of an archive. */
export interface Unpacked {
  readonly files: number
  readonly directories: number
  readonly links: number
  readonly bytes: number
  /** The first 1,000; `leftOutCount` is all. */
  readonly leftOut: readonly LeftOut[]
  readonly leftOutCount: number
}

export interface Files {
  read(path: string, options?: ReadFileOptions): Promise<ReadableStream<Uint8Array>>
  /** All of it, or nothing; `append` adds all of it, or nothing. */
  write(
    path: string,
    data: string | Uint8Array | ReadableStream<Uint8Array>,
    options?: WriteOptions,
  ): Promise<FileStat>
  list(path: string, options?: ListOptions): Promise<FileList>
  /** Of a symlink, about the link itself. */
  stat(path: string, options?: FileOptions): Promise<FileStat>
  exists(path: string, options?: FileOptions): Promise<boolean>
  mkdir(
    path: string,
    options?: FileOptions & { readonly parents?: boolean; readonly mode?: number },
  ): Promise<void>
  /** Replaces a file that is at the new path, never a directory that holds something. */
  move(from: string, to: string, options?: FileOptions & { readonly parents?: boolean }): Promise<void>
  /** With `force`, what is not there is no error. */
  remove(
    path: string,
    options?: FileOptions & { readonly recursive?: boolean; readonly force?: boolean },
  ): Promise<void>
  chmod(path: string, mode: number, options?: FileOptions): Promise<void>
  search(path: string, options: SearchOptions): Promise<SearchResult>
  /** The `file.*` events of the journal from now on. */
  watch(options?: {
    readonly ignore?: readonly string[]
    readonly signal?: AbortSignal
  }): AsyncIterableIterator<JournalEvent>
  /** Once every change that was made before the call is in the journal. */
  flush(): Promise<void>
  /** Unpacks a tar, as it is or compressed, into a directory. */
  upload(
    path: string,
    archive: ReadableStream<Uint8Array> | Uint8Array,
    options?: ArchiveOptions,
  ): Promise<Unpacked>
  /** A file or a directory as a tar; its members are named from there. */
  download(path: string, options?: ArchiveOptions): Promise<ReadableStream<Uint8Array>>
  /**
   * Unpacks the archive at a path into the directory that it lies in. An archive that is given is put at that path
   * first. Its scheme is told by the name unless it is given.
   */
  extract(
    path: string,
    archive?: ReadableStream<Uint8Array> | Uint8Array,
    options?: ArchiveOptions,
  ): Promise<Unpacked>
}
