import type {
  ArchiveOptions,
  ByteStream,
  DownloadDirectoryOptions,
  FileList,
  FileOptions,
  FileStat,
  Files,
  FileWatchOptions,
  JournalEvent,
  ListOptions,
  ReadFileOptions,
  SearchOptions,
  SearchResult,
  Unpacked,
  UploadDirectoryOptions,
  WriteOptions,
} from '@vitrine/protocol'
import { type ObserverErrors, requireWholeNumber } from '@vitrine/protocol/primitives'
import type { HttpClient } from '../http/http-client.ts'
import { withFields } from '../http/options.ts'
import { type RequestOptions, requestJson, requestVoid } from '../http/request.ts'
import { bytesOfText, requestBody } from '../http/request-body.ts'
import { requestBytes } from '../http/response-body.ts'
import { unpack } from './archives.ts'
import { watchFiles } from './watch-files.ts'

type Archive = ByteStream | Uint8Array

/** The files of one sandbox. */
export class RemoteFiles implements Files {
  readonly #http: HttpClient

  readonly #observerErrors: ObserverErrors

  constructor(http: HttpClient, observerErrors: ObserverErrors) {
    this.#http = http
    this.#observerErrors = observerErrors
  }

  read(path: string, { signal, ...rest }: ReadFileOptions = {}): Promise<ReadableStream<Uint8Array>> {
    // Not with a `Range` header: it has no empty ranges, and the server would stat the file first.
    return requestBytes(this.#http, fileRequest('content', withFields('read', rest, { path }), signal))
  }

  async write(
    path: string,
    data: string | Uint8Array | ByteStream,
    { mode, signal, ...rest }: WriteOptions = {},
  ): Promise<FileStat> {
    const bits = modeOf(mode)?.toString(8)
    return requestJson(this.#http, {
      ...fileRequest('content', withFields('write', rest, { path, mode: bits }), signal),
      method: 'PUT',
      bytes: requestBody('data', bytesOfText(data)),
    })
  }

  list(path: string, { signal, ...rest }: ListOptions = {}): Promise<FileList> {
    return requestJson(this.#http, fileRequest('list', withFields('list', rest, { path }), signal))
  }

  stat(path: string, { signal, ...rest }: FileOptions = {}): Promise<FileStat> {
    return requestJson(this.#http, fileRequest('stat', withFields('stat', rest, { path }), signal))
  }

  async exists(path: string, { signal, ...rest }: FileOptions = {}): Promise<boolean> {
    const request = fileRequest('exists', withFields('exists', rest, { path }), signal)
    return (await requestJson<{ exists: boolean }>(this.#http, request)).exists
  }

  async mkdir(
    path: string,
    options: FileOptions & { readonly parents?: boolean; readonly mode?: number } = {},
  ): Promise<void> {
    const { mode, signal, ...rest } = options
    await this.#change('mkdir', withFields('mkdir', rest, { path, mode: modeOf(mode) }), signal)
  }

  move(
    from: string,
    to: string,
    { signal, ...rest }: FileOptions & { readonly parents?: boolean } = {},
  ): Promise<void> {
    return this.#change('move', withFields('move', rest, { from, to }), signal)
  }

  remove(
    path: string,
    options: FileOptions & { readonly recursive?: boolean; readonly force?: boolean } = {},
  ): Promise<void> {
    const { signal, ...rest } = options
    return this.#change('remove', withFields('remove', rest, { path }), signal)
  }

  async chmod(path: string, mode: number, { signal, ...rest }: FileOptions = {}): Promise<void> {
    await this.#change('chmod', withFields('chmod', rest, { path, mode: modeOf(mode) }), signal)
  }

  async search(path: string, options: SearchOptions): Promise<SearchResult> {
    const { signal, ...rest } = options
    const json = withFields('search', rest, { path })
    return requestJson(this.#http, { method: 'POST', path: ['files', 'search'], json, signal })
  }

  watch(options: FileWatchOptions = {}): AsyncIterableIterator<JournalEvent> {
    return watchFiles(this.#http, options)
  }

  flush(): Promise<void> {
    return requestVoid(this.#http, { method: 'POST', path: ['files', 'flush'] })
  }

  upload(path: string, archive: Archive, options: ArchiveOptions = {}): Promise<Unpacked> {
    return unpack(this.#http, 'archive', path, archive, options)
  }

  download(path: string, options: ArchiveOptions = {}): Promise<ReadableStream<Uint8Array>> {
    const { signal, ...rest } = options
    return requestBytes(this.#http, {
      ...fileRequest('archive', withFields('download', rest, { path }), signal),
      limitMs: 'none',
    })
  }

  extract(path: string, archive?: Archive, options: ArchiveOptions = {}): Promise<Unpacked> {
    return unpack(this.#http, 'extract', path, archive, options)
  }

  async uploadDirectory(directory: string, options: UploadDirectoryOptions = {}): Promise<Unpacked> {
    const { uploadDirectory } = await import('#directories')
    return uploadDirectory(this, directory, options, this.#observerErrors)
  }

  async downloadDirectory(directory: string, options: DownloadDirectoryOptions = {}): Promise<Unpacked> {
    const { downloadDirectory } = await import('#directories')
    return downloadDirectory(this, directory, options, this.#observerErrors)
  }

  #change(name: string, json: unknown, signal: AbortSignal | undefined): Promise<void> {
    return requestVoid(this.#http, { method: 'POST', path: ['files', name], json, signal })
  }
}

function fileRequest(
  name: string,
  query: RequestOptions['query'] & {},
  signal: AbortSignal | undefined,
): RequestOptions {
  return { path: ['files', name], query, signal }
}

/** Checks numbers here, because JSON has no `NaN`; the server refuses other types. */
function modeOf(mode: number | undefined): number | undefined {
  return typeof mode === 'number' ? requireWholeNumber('mode', mode) : mode
}
