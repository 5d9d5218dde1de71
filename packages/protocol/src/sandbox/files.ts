import type { JournalEvent } from '../events/envelope.ts'

export type FileKind = 'file' | 'directory' | 'symlink' | 'other'

export interface FileStat {
  readonly path: string
  readonly kind: FileKind
  readonly size: number
  readonly mode: number
  readonly modifiedAt: string
  readonly target?: string
}

export interface FileOptions {
  readonly user?: string
  readonly signal?: AbortSignal
}

export interface WriteOptions extends FileOptions {
  readonly append?: boolean
  readonly parents?: boolean
  readonly mode?: number
}

export interface SearchOptions extends FileOptions {
  readonly name?: string
  readonly content?: string
  readonly limit?: number
}

export interface SearchHit {
  readonly path: string
  readonly line?: number
  readonly text?: string
}

export type ArchiveScheme = 'tar' | 'tar.gz' | 'tar.zst' | 'zip'

export interface Files {
  read(
    path: string,
    options?: FileOptions & { readonly from?: number; readonly to?: number },
  ): Promise<ReadableStream<Uint8Array>>
  write(
    path: string,
    data: string | Uint8Array | ReadableStream<Uint8Array>,
    options?: WriteOptions,
  ): Promise<FileStat>
  list(path: string, options?: FileOptions): Promise<readonly FileStat[]>
  stat(path: string, options?: FileOptions): Promise<FileStat>
  exists(path: string, options?: FileOptions): Promise<boolean>
  mkdir(
    path: string,
    options?: FileOptions & { readonly parents?: boolean; readonly mode?: number },
  ): Promise<void>
  move(from: string, to: string, options?: FileOptions): Promise<void>
  remove(path: string, options?: FileOptions & { readonly recursive?: boolean }): Promise<void>
  chmod(path: string, mode: number, options?: FileOptions): Promise<void>
  search(path: string, options: SearchOptions): Promise<readonly SearchHit[]>
  /** The `file.*` events of the journal from now on. */
  watch(options?: {
    readonly ignore?: readonly string[]
    readonly signal?: AbortSignal
  }): AsyncIterableIterator<JournalEvent>
  upload(path: string, archive: ReadableStream<Uint8Array>, options?: FileOptions): Promise<void>
  download(
    path: string,
    options?: FileOptions & { readonly scheme?: ArchiveScheme },
  ): Promise<ReadableStream<Uint8Array>>
  extract(
    path: string,
    archive: ReadableStream<Uint8Array>,
    options?: FileOptions & { readonly scheme?: ArchiveScheme },
  ): Promise<void>
}
