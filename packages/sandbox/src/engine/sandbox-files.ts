import type { Journal } from '@vitrine/journal'
import {
  type ArchiveOptions,
  type FileList,
  type FileOptions,
  type FileStat,
  type Files,
  isGap,
  type JournalEvent,
  type ListOptions,
  type ReadFileOptions,
  type SearchOptions,
  type SearchResult,
  type Unpacked,
  VitrineError,
  type WriteOptions,
} from '@vitrine/protocol'
import { checkOptions, fileOptions } from '@vitrine/protocol/options'
import { checkPath } from '../files/access-roots.ts'
import { changeMode, makeDirectories, move, remove } from '../files/change.ts'
import { closingStream } from '../files/closing-stream.ts'
import { fileError } from '../files/errors.ts'
import { statOf } from '../files/file-context.ts'
import type { FileIdentity } from '../files/identity.ts'
import { list } from '../files/list.ts'
import { closeFile, fileSource, isSmall, type OpenFile, openFile, readSmall } from '../files/read.ts'
import { search } from '../files/search.ts'
import { cancelled } from '../files/time-slice.ts'
import { walk } from '../files/walk.ts'
import { type FileContent, writeFile } from '../files/write.ts'
import { ignoring } from '../watching/ignore.ts'
import { defaultIgnore } from '../watching/settings.ts'
import { checkArchive, unpackedFacts } from './archive-facts.ts'
import { type Archiving, download, extract, upload } from './archiving.ts'
import type { EngineCore } from './core.ts'
import { type SandboxFileSystem, untilEither } from './sandbox-file-system.ts'

type Facts = Readonly<Record<string, unknown>>

/** The files of one sandbox. Every call is an operation. */
export class SandboxFiles implements Files {
  readonly #core: EngineCore
  readonly #journal: Journal

  constructor(core: EngineCore, journal: Journal) {
    this.#core = core
    this.#journal = journal
  }

  async read(path: string, options: ReadFileOptions = {}): Promise<ReadableStream<Uint8Array>> {
    checkOptions('files.read', fileOptions.read, options)
    const { from, to, signal } = options
    const facts = {
      ...about(path, options),
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
    }
    let file: OpenFile
    let side: SandboxFileSystem
    try {
      const begun = this.#begin(path, options)
      side = begun.side
      file = openFile(side.context, path, options, begun.as)
    } catch (error) {
      return this.#journal.operateAtOnce('read', facts, () => {
        throw error
      })
    }
    if (isSmall(file)) return this.#readAtOnce(file, path, facts)
    const until = untilEither(signal, side.ending)
    return this.#core.streams.operate(this.#journal, 'read', facts, (ended) =>
      closingStream(fileSource(file, path), { signal: until, ended }),
    )
  }

  async #readAtOnce(file: OpenFile, path: string, facts: Facts): Promise<ReadableStream<Uint8Array>> {
    try {
      const finish = ({ byteLength }: Uint8Array) => ({ bytes: byteLength })
      return streamOf(
        await this.#journal.operateAtOnce('read', facts, () => readSmall(file, path), { finish }),
      )
    } finally {
      closeFile(file)
    }
  }

  async write(path: string, data: FileContent, options: WriteOptions = {}): Promise<FileStat> {
    checkOptions('files.write', fileOptions.write, options)
    const { append, parents, mode } = options
    const facts = {
      ...about(path, options),
      ...(append && { append }),
      ...(parents && { parents }),
      ...(mode !== undefined && { mode }),
    }
    return this.#operate(
      'write',
      path,
      facts,
      options,
      ({ context: room }, as, signal) => {
        if (typeof data !== 'string' && !(data instanceof Uint8Array) && !(data instanceof ReadableStream))
          throw new VitrineError(
            'argument_invalid',
            `data: expected a text, bytes or a stream of bytes, got ${data === null ? 'null' : typeof data}.`,
          )
        return writeFile(room, path, data, { ...options, signal }, as)
      },
      ({ size }) => ({ size }),
    )
  }

  async list(path: string, options: ListOptions = {}): Promise<FileList> {
    checkOptions('files.list', fileOptions.list, options)
    return this.#operate(
      'ls',
      path,
      about(path, options),
      options,
      ({ context: room }, as, signal) => list(room, path, { ...options, signal }, as),
      ({ entries, truncated }) => ({ count: entries.length, ...(truncated && { truncated }) }),
    )
  }

  async stat(path: string, options: FileOptions = {}): Promise<FileStat> {
    checkOptions('files.stat', fileOptions.plain, options)
    return this.#observe('stat', path, options, ({ context: room }, as) =>
      walk(room.places, path, { as, follow: false }, (spot) => statOf(room, spot)),
    )
  }

  async exists(path: string, options: FileOptions = {}): Promise<boolean> {
    checkOptions('files.exists', fileOptions.plain, options)
    return this.#observe(
      'exists',
      path,
      options,
      ({ context: room }, as) => {
        try {
          return walk(room.places, path, { as }, ({ entry }) => entry !== undefined)
        } catch (error) {
          if (error instanceof VitrineError && error.code === 'file_not_directory') return false
          throw error
        }
      },
      (found) => ({ found }),
    )
  }

  async mkdir(
    path: string,
    options: FileOptions & { readonly parents?: boolean; readonly mode?: number } = {},
  ): Promise<void> {
    checkOptions('files.mkdir', fileOptions.mkdir, options)
    const { parents, mode } = options
    const facts = {
      ...about(path, options),
      ...(parents && { parents }),
      ...(mode !== undefined && { mode }),
    }
    return this.#operate('mkdir', path, facts, options, ({ context: room }, as) =>
      makeDirectories(room, path, options, as),
    )
  }

  async move(
    from: string,
    to: string,
    options: FileOptions & { readonly parents?: boolean } = {},
  ): Promise<void> {
    checkOptions('files.move', fileOptions.move, options)
    const facts = { ...about(from, options), to: about(to, {}).path }
    return this.#operate('mv', from, facts, options, ({ context: room }, as) => {
      checkPath('to', to)
      move(room, from, to, options, as)
    })
  }

  async remove(
    path: string,
    options: FileOptions & { readonly recursive?: boolean; readonly force?: boolean } = {},
  ): Promise<void> {
    checkOptions('files.remove', fileOptions.remove, options)
    const { recursive, force } = options
    const facts = { ...about(path, options), ...(recursive && { recursive }), ...(force && { force }) }
    return this.#operate('rm', path, facts, options, ({ context: room }, as, signal) =>
      remove(room, path, { ...options, signal }, as),
    )
  }

  async chmod(path: string, mode: number, options: FileOptions = {}): Promise<void> {
    checkOptions('files.chmod', fileOptions.plain, options)
    return this.#operate('chmod', path, { ...about(path, options), mode }, options, ({ context: room }, as) =>
      changeMode(room, path, mode, as),
    )
  }

  async search(path: string, options: SearchOptions): Promise<SearchResult> {
    checkOptions('files.search', fileOptions.search, options)
    const { name, content, ignore = this.#core.settings.watch?.ignore ?? defaultIgnore } = options
    const facts = {
      ...about(path, options),
      ...(name !== undefined && { name }),
      ...(content !== undefined && { content }),
    }
    return this.#operate(
      'search',
      path,
      facts,
      options,
      ({ context: room }, as, signal) =>
        search(room, path, { ...options, signal, ignored: ignoring(ignore) }, as),
      ({ hits, truncated }) => ({ count: hits.length, ...(truncated && { truncated }) }),
    )
  }

  watch(
    options: { readonly ignore?: readonly string[]; readonly signal?: AbortSignal } = {},
  ): AsyncIterableIterator<JournalEvent> {
    checkOptions('files.watch', fileOptions.watch, options)
    // From this moment on, not from when the first one is asked for.
    return this.#watching(this.#journal.cursor(this.#journal.head), options)
  }

  async *#watching(
    after: string,
    { ignore = [], signal }: { readonly ignore?: readonly string[]; readonly signal?: AbortSignal },
  ): AsyncGenerator<JournalEvent, undefined> {
    await this.#journal.operate('watch', { ...(ignore.length > 0 && { ignore }) }, () => {
      this.#core.files().mustBeWatched()
    })
    const ignored = ignoring(ignore)
    const isIgnored = (path: unknown) =>
      typeof path === 'string' &&
      path.split('/').some((name, at, names) => ignored(names.slice(0, at + 1).join('/'), name))
    for await (const item of this.#journal.tail({ after, types: ['file.*'], ...(signal && { signal }) })) {
      if (isGap(item))
        throw new VitrineError('view_fell_behind', 'Events of files were trimmed before they were read.')
      const { path, previousPath } = item.data as { path?: unknown; previousPath?: unknown }
      if (!isIgnored(path) || (previousPath !== undefined && !isIgnored(previousPath))) yield item
    }
  }

  async upload(
    path: string,
    archive: ReadableStream<Uint8Array> | Uint8Array,
    options: ArchiveOptions = {},
  ): Promise<Unpacked> {
    checkOptions('files.upload', fileOptions.archive, options)
    return this.#operate(
      'upload',
      path,
      archiveFacts(path, options),
      options,
      (side, as) => upload(this.#archiving(side, as, options), path, checkArchive(archive), options),
      unpackedFacts,
    )
  }

  async extract(
    path: string,
    archive?: ReadableStream<Uint8Array> | Uint8Array,
    options: ArchiveOptions = {},
  ): Promise<Unpacked> {
    checkOptions('files.extract', fileOptions.archive, options)
    return this.#operate(
      'extract',
      path,
      archiveFacts(path, options),
      options,
      (side, as) => {
        const given = archive === undefined ? undefined : checkArchive(archive)
        return extract(this.#archiving(side, as, options), path, given, options)
      },
      unpackedFacts,
    )
  }

  async download(path: string, options: ArchiveOptions = {}): Promise<ReadableStream<Uint8Array>> {
    checkOptions('files.download', fileOptions.archive, options)
    let packed: () => Facts = () => ({})
    return this.#core.streams.operate(
      this.#journal,
      'download',
      archiveFacts(path, options),
      (ended) => {
        const { side, as } = this.#begin(path, options)
        const packing = download(this.#archiving(side, as, options), path, options, ended)
        packed = packing.facts
        return packing.stream
      },
      () => packed(),
    )
  }

  flush(): Promise<void> {
    return this.#journal.operate('flush', {}, () => {
      const side = this.#core.files()
      return side.watchesViaExec ? this.#core.ready().files.flush() : side.flush()
    })
  }

  #begin(
    path: string,
    { user, signal }: FileOptions,
  ): { side: SandboxFileSystem; as: FileIdentity | undefined } {
    checkPath('path', path)
    if (signal?.aborted) throw cancelled(signal)
    const side = this.#core.files()
    return { side, as: user === undefined ? undefined : side.machine.fileUser(user) }
  }

  #archiving(side: SandboxFileSystem, as: FileIdentity | undefined, { signal }: FileOptions): Archiving {
    return {
      room: side.context,
      limits: this.#core.settings.archiveLimits,
      as,
      signal: untilEither(signal, side.ending),
    }
  }

  /** For what is done at once and changes nothing. */
  #observe<T>(
    op: string,
    path: string,
    options: FileOptions,
    run: (side: SandboxFileSystem, as: FileIdentity | undefined) => T,
    finish?: (result: T) => Facts,
  ): Promise<T> {
    return this.#journal.operateAtOnce(
      op,
      about(path, options),
      () => {
        const { side, as } = this.#begin(path, options)
        return run(side, as)
      },
      finish && { finish },
    )
  }

  #operate<T>(
    op: string,
    path: string,
    facts: Facts,
    options: FileOptions,
    run: (side: SandboxFileSystem, as: FileIdentity | undefined, signal: AbortSignal) => T | Promise<T>,
    finish?: (result: T) => Facts,
  ): Promise<T> {
    const { signal } = options
    return this.#journal
      .operate(
        op,
        facts,
        async () => {
          const { side, as } = this.#begin(path, options)
          try {
            return await side.tracked(() => run(side, as, untilEither(signal, side.ending)))
          } catch (error) {
            throw fileError(error, path)
          }
        },
        { ...(finish && { finish }), ...(signal && { signal }) },
      )
      .catch((error: unknown) => {
        throw signal?.aborted && error === signal.reason ? cancelled(signal) : error
      })
  }
}

function about(path: string, { user }: FileOptions): Facts {
  return {
    path: typeof path === 'string' ? path.toWellFormed() : String(path),
    ...(user !== undefined && { user }),
  }
}

function archiveFacts(path: string, options: ArchiveOptions): Facts {
  return { ...about(path, options), ...(options.scheme !== undefined && { scheme: options.scheme }) }
}

function streamOf(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      if (bytes.byteLength > 0) controller.enqueue(bytes)
      controller.close()
    },
  })
}
