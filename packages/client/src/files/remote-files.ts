import type {
  ArchiveOptions,
  FileList,
  FileOptions,
  FileStat,
  Files,
  JournalEvent,
  ListOptions,
  ReadFileOptions,
  SearchOptions,
  SearchResult,
  Unpacked,
  WriteOptions,
} from '@vitrine/protocol'
import { wholeNumber } from '../wire/address.ts'
import { type Asked, askDone, askJson } from '../wire/ask.ts'
import { askBytes } from '../wire/incoming.ts'
import { bytesOfText, outgoing } from '../wire/outgoing.ts'
import type { Wire } from '../wire/wire.ts'
import { unpack } from './archives.ts'
import { type WatchOptions, watchFiles } from './watch-files.ts'

type Archive = ReadableStream<Uint8Array> | Uint8Array

/** The files of one sandbox. */
export class RemoteFiles implements Files {
  readonly #wire: Wire

  constructor(wire: Wire) {
    this.#wire = wire
  }

  read(path: string, { from, to, user, signal }: ReadFileOptions = {}): Promise<ReadableStream<Uint8Array>> {
    // Not by a `Range`: that has no empty ranges, and costs a look at the size first.
    return askBytes(this.#wire, about('content', { path, from, to, user }, signal))
  }

  async write(
    path: string,
    data: string | Uint8Array | ReadableStream<Uint8Array>,
    { append, parents, mode, user, signal }: WriteOptions = {},
  ): Promise<FileStat> {
    const bits = modeOf(mode)?.toString(8)
    return askJson(this.#wire, {
      ...about('content', { path, append, parents, mode: bits, user }, signal),
      method: 'PUT',
      bytes: outgoing('data', bytesOfText(data)),
    })
  }

  list(path: string, { limit, user, signal }: ListOptions = {}): Promise<FileList> {
    return askJson(this.#wire, about('list', { path, limit, user }, signal))
  }

  stat(path: string, { user, signal }: FileOptions = {}): Promise<FileStat> {
    return askJson(this.#wire, about('stat', { path, user }, signal))
  }

  async exists(path: string, { user, signal }: FileOptions = {}): Promise<boolean> {
    const asked = about('exists', { path, user }, signal)
    return (await askJson<{ exists: boolean }>(this.#wire, asked)).exists
  }

  async mkdir(
    path: string,
    options: FileOptions & { readonly parents?: boolean; readonly mode?: number } = {},
  ): Promise<void> {
    const { parents, mode, user, signal } = options
    await this.#change('mkdir', { path, parents, mode: modeOf(mode), user }, signal)
  }

  move(
    from: string,
    to: string,
    { parents, user, signal }: FileOptions & { readonly parents?: boolean } = {},
  ): Promise<void> {
    return this.#change('move', { from, to, parents, user }, signal)
  }

  remove(
    path: string,
    options: FileOptions & { readonly recursive?: boolean; readonly force?: boolean } = {},
  ): Promise<void> {
    const { recursive, force, user, signal } = options
    return this.#change('remove', { path, recursive, force, user }, signal)
  }

  async chmod(path: string, mode: number, { user, signal }: FileOptions = {}): Promise<void> {
    await this.#change('chmod', { path, mode: modeOf(mode), user }, signal)
  }

  async search(path: string, options: SearchOptions): Promise<SearchResult> {
    const { name, content, ignoreCase, ignore, limit, user, signal } = options
    if (limit !== undefined) wholeNumber('limit', limit)
    const json = { path, name, content, ignoreCase, ignore, limit, user }
    return askJson(this.#wire, { method: 'POST', path: ['files', 'search'], json, signal })
  }

  watch(options: WatchOptions = {}): AsyncIterableIterator<JournalEvent> {
    return watchFiles(this.#wire, options)
  }

  flush(): Promise<void> {
    return askDone(this.#wire, { method: 'POST', path: ['files', 'flush'] })
  }

  upload(path: string, archive: Archive, options: ArchiveOptions = {}): Promise<Unpacked> {
    return unpack(this.#wire, 'archive', path, archive, options)
  }

  download(path: string, options: ArchiveOptions = {}): Promise<ReadableStream<Uint8Array>> {
    const { scheme, user, signal } = options
    return askBytes(this.#wire, { ...about('archive', { path, scheme, user }, signal), limitMs: 'none' })
  }

  extract(path: string, archive?: Archive, options: ArchiveOptions = {}): Promise<Unpacked> {
    return unpack(this.#wire, 'extract', path, archive, options)
  }

  #change(name: string, json: unknown, signal: AbortSignal | undefined): Promise<void> {
    return askDone(this.#wire, { method: 'POST', path: ['files', name], json, signal })
  }
}

function about(name: string, query: Asked['query'] & {}, signal: AbortSignal | undefined): Asked {
  return { path: ['files', name], query, signal }
}

function modeOf(mode: number | undefined): number | undefined {
  return mode === undefined ? undefined : wholeNumber('mode', mode)
}
