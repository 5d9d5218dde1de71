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
      ...pathFacts(path, options),
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
    }
    let file: OpenFile
    let fileSystem: SandboxFileSystem
    try {
      const call = this.#prepareCall(path, options)
      fileSystem = call.fileSystem
      file = openFile(fileSystem.context, path, options, call.as)
    } catch (error) {
      return this.#journal.operateAtOnce('read', facts, () => {
        throw error
      })
    }
    if (isSmall(file)) return this.#readAtOnce(file, path, facts)
    const until = untilEither(signal, fileSystem.ending)
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
      ...pathFacts(path, options),
      ...(append && { append }),
      ...(parents && { parents }),
      ...(mode !== undefined && { mode }),
    }
    return this.#operate(
      'write',
      path,
      facts,
      options,
      ({ context }, as, signal) => {
        if (typeof data !== 'string' && !(data instanceof Uint8Array) && !(data instanceof ReadableStream))
          throw new VitrineError(
            'argument_invalid',
            `data: expected a string, bytes or a stream of bytes, got ${data === null ? 'null' : typeof data}.`,
          )
        return writeFile(context, path, data, { ...options, signal }, as)
      },
      ({ size }) => ({ size }),
    )
  }

  async list(path: string, options: ListOptions = {}): Promise<FileList> {
    checkOptions('files.list', fileOptions.list, options)
    return this.#operate(
      'ls',
      path,
      pathFacts(path, options),
      options,
      ({ context }, as, signal) => list(context, path, { ...options, signal }, as),
      ({ entries, truncated }) => ({ count: entries.length, ...(truncated && { truncated }) }),
    )
  }

  async stat(path: string, options: FileOptions = {}): Promise<FileStat> {
    checkOptions('files.stat', fileOptions.plain, options)
    return this.#operateAtOnce('stat', path, options, ({ context }, as) =>
      walk(context.roots, path, { as, follow: false }, (resolved) => statOf(context, resolved)),
    )
  }

  async exists(path: string, options: FileOptions = {}): Promise<boolean> {
    checkOptions('files.exists', fileOptions.plain, options)
    return this.#operateAtOnce(
      'exists',
      path,
      options,
      ({ context }, as) => {
        try {
          return walk(context.roots, path, { as }, ({ entry }) => entry !== undefined)
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
      ...pathFacts(path, options),
      ...(parents && { parents }),
      ...(mode !== undefined && { mode }),
    }
    return this.#operate('mkdir', path, facts, options, ({ context }, as) =>
      makeDirectories(context, path, options, as),
    )
  }

  async move(
    from: string,
    to: string,
    options: FileOptions & { readonly parents?: boolean } = {},
  ): Promise<void> {
    checkOptions('files.move', fileOptions.move, options)
    const facts = { ...pathFacts(from, options), to: pathFacts(to, {}).path }
    return this.#operate('mv', from, facts, options, ({ context }, as) => {
      checkPath('to', to)
      move(context, from, to, options, as)
    })
  }

  async remove(
    path: string,
    options: FileOptions & { readonly recursive?: boolean; readonly force?: boolean } = {},
  ): Promise<void> {
    checkOptions('files.remove', fileOptions.remove, options)
    const { recursive, force } = options
    const facts = { ...pathFacts(path, options), ...(recursive && { recursive }), ...(force && { force }) }
    return this.#operate('rm', path, facts, options, ({ context }, as, signal) =>
      remove(context, path, { ...options, signal }, as),
    )
  }

  async chmod(path: string, mode: number, options: FileOptions = {}): Promise<void> {
    checkOptions('files.chmod', fileOptions.plain, options)
    return this.#operate('chmod', path, { ...pathFacts(path, options), mode }, options, ({ context }, as) =>
      changeMode(context, path, mode, as),
    )
  }

  async search(path: string, options: SearchOptions): Promise<SearchResult> {
    checkOptions('files.search', fileOptions.search, options)
    const { name, content, ignore = this.#core.settings.watch?.ignore ?? defaultIgnore } = options
    const facts = {
      ...pathFacts(path, options),
      ...(name !== undefined && { name }),
      ...(content !== undefined && { content }),
    }
    return this.#operate(
      'search',
      path,
      facts,
      options,
      ({ context }, as, signal) =>
        search(context, path, { ...options, signal, ignored: ignoring(ignore) }, as),
      ({ hits, truncated }) => ({ count: hits.length, ...(truncated && { truncated }) }),
    )
  }

  watch(
    options: { readonly ignore?: readonly string[]; readonly signal?: AbortSignal } = {},
  ): AsyncIterableIterator<JournalEvent> {
    checkOptions('files.watch', fileOptions.watch, options)
    // Starts at this call, not at the first `next()`.
    return this.#watching(this.#journal.cursor(this.#journal.head), options)
  }

  async *#watching(
    after: string,
    { ignore = [], signal }: { readonly ignore?: readonly string[]; readonly signal?: AbortSignal },
  ): AsyncGenerator<JournalEvent, undefined> {
    await this.#journal.operate('watch', { ...(ignore.length > 0 && { ignore }) }, () => {
      this.#core.files().requireWatcher()
    })
    const ignored = ignoring(ignore)
    const isIgnored = (path: unknown) =>
      typeof path === 'string' &&
      path.split('/').some((name, at, names) => ignored(names.slice(0, at + 1).join('/'), name))
    for await (const item of this.#journal.tail({ after, types: ['file.*'], ...(signal && { signal }) })) {
      if (isGap(item))
        throw new VitrineError(
          'view_fell_behind',
          'File events were trimmed from the journal before they were read.',
        )
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
      (fileSystem, as) =>
        upload(this.#archiving(fileSystem, as, options), path, checkArchive(archive), options),
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
      (fileSystem, as) => {
        const given = archive === undefined ? undefined : checkArchive(archive)
        return extract(this.#archiving(fileSystem, as, options), path, given, options)
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
        const { fileSystem, as } = this.#prepareCall(path, options)
        const packing = download(this.#archiving(fileSystem, as, options), path, options, ended)
        packed = packing.facts
        return packing.stream
      },
      () => packed(),
    )
  }

  flush(): Promise<void> {
    return this.#journal.operate('flush', {}, () => {
      const fileSystem = this.#core.files()
      return fileSystem.watchesViaExec ? this.#core.ready().files.flush() : fileSystem.flush()
    })
  }

  #prepareCall(
    path: string,
    { user, signal }: FileOptions,
  ): { fileSystem: SandboxFileSystem; as: FileIdentity | undefined } {
    checkPath('path', path)
    if (signal?.aborted) throw cancelled(signal)
    const fileSystem = this.#core.files()
    return { fileSystem, as: user === undefined ? undefined : fileSystem.machine.fileUser(user) }
  }

  #archiving(
    fileSystem: SandboxFileSystem,
    as: FileIdentity | undefined,
    { signal }: FileOptions,
  ): Archiving {
    return {
      context: fileSystem.context,
      limits: this.#core.settings.archiveLimits,
      as,
      signal: untilEither(signal, fileSystem.ending),
    }
  }

  /** Runs a synchronous operation that changes nothing. */
  #operateAtOnce<T>(
    op: string,
    path: string,
    options: FileOptions,
    run: (fileSystem: SandboxFileSystem, as: FileIdentity | undefined) => T,
    finish?: (result: T) => Facts,
  ): Promise<T> {
    return this.#journal.operateAtOnce(
      op,
      pathFacts(path, options),
      () => {
        const { fileSystem, as } = this.#prepareCall(path, options)
        return run(fileSystem, as)
      },
      finish && { finish },
    )
  }

  #operate<T>(
    op: string,
    path: string,
    facts: Facts,
    options: FileOptions,
    run: (fileSystem: SandboxFileSystem, as: FileIdentity | undefined, signal: AbortSignal) => T | Promise<T>,
    finish?: (result: T) => Facts,
  ): Promise<T> {
    const { signal } = options
    return this.#journal
      .operate(
        op,
        facts,
        async () => {
          const { fileSystem, as } = this.#prepareCall(path, options)
          try {
            return await fileSystem.tracked(() => run(fileSystem, as, untilEither(signal, fileSystem.ending)))
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

function pathFacts(path: string, { user }: FileOptions): Facts {
  return {
    path: typeof path === 'string' ? path.toWellFormed() : String(path),
    ...(user !== undefined && { user }),
  }
}

function archiveFacts(path: string, options: ArchiveOptions): Facts {
  return { ...pathFacts(path, options), ...(options.scheme !== undefined && { scheme: options.scheme }) }
}

function streamOf(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      if (bytes.byteLength > 0) controller.enqueue(bytes)
      controller.close()
    },
  })
}
