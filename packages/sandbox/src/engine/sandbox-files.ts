import {
  cancelled,
  checkPath,
  closingStream,
  downloadDirectory,
  type FileIdentity,
  fileError,
  uploadDirectory,
  walk,
} from '@vitrine/archives'
import type { Journal } from '@vitrine/journal'
import {
  type ArchiveOptions,
  type ByteStream,
  type DownloadDirectoryOptions,
  type FileList,
  type FileOptions,
  type FileStat,
  type Files,
  type FileWatchOptions,
  isGap,
  type JournalEvent,
  type ListOptions,
  type ReadFileOptions,
  type SearchOptions,
  type SearchResult,
  type Unpacked,
  type UploadDirectoryOptions,
  VitrineError,
  type WriteOptions,
} from '@vitrine/protocol'
import { checkOptions, fileOptions } from '@vitrine/protocol/options'
import { isBelowIgnored, toWebStream } from '@vitrine/protocol/primitives'
import { changeMode, makeDirectories, move, remove } from '../files/change.ts'
import { statOf } from '../files/file-context.ts'
import { list } from '../files/list.ts'
import { closeFile, fileSource, isSmall, type OpenFile, openFile, readSmall } from '../files/read.ts'
import { search } from '../files/search.ts'
import { writeFile } from '../files/write.ts'
import { ignoreMatcher } from '../watching/ignore.ts'
import { defaultIgnore } from '../watching/settings.ts'
import { type ArchiveContext, checkArchive, download, extract, upload } from './archiving.ts'
import type { EngineCore } from './core.ts'
import { archiveData, type OperationData, pathData, unpackedData } from './operation-data.ts'
import { anySignal, type SandboxFileSystem } from './sandbox-file-system.ts'

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
    const startData = {
      ...pathData(path, options),
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
    }
    let file: OpenFile
    let fileSystem: SandboxFileSystem
    try {
      const call = this.#prepareCall(path, options)
      fileSystem = call.fileSystem
      file = openFile(fileSystem.context, path, options, call.identity)
    } catch (error) {
      // A call that fails before the file is open is an operation too.
      return this.#journal.operateInOneCommit('read', startData, () => {
        throw error
      })
    }
    if (isSmall(file)) return this.#readInOneCommit(file, path, startData)
    const until = anySignal(signal, fileSystem.shutdownSignal)
    return this.#core.streams.operate(this.#journal, 'read', startData, (onEnd) =>
      closingStream(fileSource(file, path), { signal: until, onEnd }),
    )
  }

  async #readInOneCommit(
    file: OpenFile,
    path: string,
    startData: OperationData,
  ): Promise<ReadableStream<Uint8Array>> {
    try {
      const finish = ({ byteLength }: Uint8Array) => ({ bytes: byteLength })
      return streamOf(
        await this.#journal.operateInOneCommit('read', startData, () => readSmall(file, path), { finish }),
      )
    } finally {
      closeFile(file)
    }
  }

  async write(
    path: string,
    data: string | Uint8Array | ByteStream,
    options: WriteOptions = {},
  ): Promise<FileStat> {
    checkOptions('files.write', fileOptions.write, options)
    const { append, parents = true, mode } = options
    const startData = {
      ...pathData(path, options),
      ...(append && { append }),
      ...(!parents && { parents }),
      ...(mode !== undefined && { mode }),
    }
    return this.#operate(
      'write',
      path,
      startData,
      options,
      ({ context }, identity, signal) => {
        const content = toWebStream('data', data)
        if (
          typeof content !== 'string' &&
          !(content instanceof Uint8Array) &&
          !(content instanceof ReadableStream)
        )
          throw new VitrineError(
            'argument_invalid',
            `data: expected a string, a Uint8Array or a stream of bytes, got ${data === null ? 'null' : typeof data}.`,
          )
        return writeFile(context, path, content, { ...options, parents, signal }, identity)
      },
      ({ size }) => ({ size }),
    )
  }

  async list(path: string, options: ListOptions = {}): Promise<FileList> {
    checkOptions('files.list', fileOptions.list, options)
    return this.#operate(
      'ls',
      path,
      pathData(path, options),
      options,
      ({ context }, identity, signal) => list(context, path, { ...options, signal }, identity),
      ({ entries, truncated }) => ({ count: entries.length, ...(truncated && { truncated }) }),
    )
  }

  async stat(path: string, options: FileOptions = {}): Promise<FileStat> {
    checkOptions('files.stat', fileOptions.plain, options)
    return this.#operateInOneCommit('stat', path, options, ({ context }, identity) =>
      walk(context.roots, path, { identity, follow: false }, (resolved) => statOf(context, resolved)),
    )
  }

  async exists(path: string, options: FileOptions = {}): Promise<boolean> {
    checkOptions('files.exists', fileOptions.plain, options)
    return this.#operateInOneCommit(
      'exists',
      path,
      options,
      ({ context }, identity) => {
        try {
          return walk(context.roots, path, { identity }, ({ entry }) => entry !== undefined)
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
    const startData = {
      ...pathData(path, options),
      ...(parents && { parents }),
      ...(mode !== undefined && { mode }),
    }
    return this.#operate('mkdir', path, startData, options, ({ context }, identity) =>
      makeDirectories(context, path, options, identity),
    )
  }

  async move(
    from: string,
    to: string,
    options: FileOptions & { readonly parents?: boolean } = {},
  ): Promise<void> {
    checkOptions('files.move', fileOptions.move, options)
    const { parents = true } = options
    const startData = { ...pathData(from, options), to: pathData(to, {}).path, ...(!parents && { parents }) }
    return this.#operate('mv', from, startData, options, ({ context }, identity) => {
      checkPath('to', to)
      move(context, from, to, { parents }, identity)
    })
  }

  async remove(
    path: string,
    options: FileOptions & { readonly recursive?: boolean; readonly force?: boolean } = {},
  ): Promise<void> {
    checkOptions('files.remove', fileOptions.remove, options)
    const { recursive, force } = options
    const startData = { ...pathData(path, options), ...(recursive && { recursive }), ...(force && { force }) }
    return this.#operate('rm', path, startData, options, ({ context }, identity, signal) =>
      remove(context, path, { ...options, signal }, identity),
    )
  }

  async chmod(path: string, mode: number, options: FileOptions = {}): Promise<void> {
    checkOptions('files.chmod', fileOptions.plain, options)
    return this.#operate(
      'chmod',
      path,
      { ...pathData(path, options), mode },
      options,
      ({ context }, identity) => changeMode(context, path, mode, identity),
    )
  }

  async search(path: string, options: SearchOptions): Promise<SearchResult> {
    checkOptions('files.search', fileOptions.search, options)
    const { name, content, ignore = this.#core.settings.watch?.ignore ?? defaultIgnore } = options
    const startData = {
      ...pathData(path, options),
      ...(name !== undefined && { name }),
      ...(content !== undefined && { content }),
    }
    return this.#operate(
      'search',
      path,
      startData,
      options,
      ({ context }, identity, signal) =>
        search(context, path, { ...options, signal, ignored: ignoreMatcher(ignore) }, identity),
      ({ hits, truncated }) => ({ count: hits.length, ...(truncated && { truncated }) }),
    )
  }

  watch(options: FileWatchOptions = {}): AsyncIterableIterator<JournalEvent> {
    checkOptions('files.watch', fileOptions.watch, options)
    // Starts at this call, not at the first `next()`.
    return this.#watchFrom(options.after ?? this.#journal.cursor(this.#journal.head), options)
  }

  async *#watchFrom(
    after: string,
    { ignore = [], signal }: FileWatchOptions,
  ): AsyncGenerator<JournalEvent, undefined> {
    await this.#journal.operate('watch', { ...(ignore.length > 0 && { ignore }) }, () => {
      this.#core.files().requireWatcher()
    })
    const ignored = ignoreMatcher(ignore)
    const isIgnored = (path: unknown) => typeof path === 'string' && isBelowIgnored(ignored, path)
    for await (const item of this.#journal.tail({ after, types: ['file.*'], ...(signal && { signal }) })) {
      if (isGap(item))
        throw new VitrineError(
          'reader_fell_behind',
          'File events were trimmed from the journal before they were read.',
        )
      const { path, previousPath } = item.data
      if (!isIgnored(path) || (previousPath !== undefined && !isIgnored(previousPath))) yield item
    }
  }

  async upload(
    path: string,
    archive: ByteStream | Uint8Array,
    options: ArchiveOptions = {},
  ): Promise<Unpacked> {
    checkOptions('files.upload', fileOptions.archive, options)
    return this.#operate(
      'upload',
      path,
      archiveData(path, options),
      options,
      (fileSystem, identity) =>
        upload(this.#archiveContext(fileSystem, identity, options), path, checkArchive(archive), options),
      unpackedData,
    )
  }

  async extract(
    path: string,
    archive?: ByteStream | Uint8Array,
    options: ArchiveOptions = {},
  ): Promise<Unpacked> {
    checkOptions('files.extract', fileOptions.archive, options)
    return this.#operate(
      'extract',
      path,
      archiveData(path, options),
      options,
      (fileSystem, identity) => {
        const given = archive === undefined ? undefined : checkArchive(archive)
        return extract(this.#archiveContext(fileSystem, identity, options), path, given, options)
      },
      unpackedData,
    )
  }

  async download(path: string, options: ArchiveOptions = {}): Promise<ReadableStream<Uint8Array>> {
    checkOptions('files.download', fileOptions.archive, options)
    let endData: () => OperationData = () => ({})
    return this.#core.streams.operate(
      this.#journal,
      'download',
      archiveData(path, options),
      (onEnd) => {
        const { fileSystem, identity } = this.#prepareCall(path, options)
        const packing = download(this.#archiveContext(fileSystem, identity, options), path, options, onEnd)
        endData = packing.endData
        return packing.stream
      },
      () => endData(),
    )
  }

  async uploadDirectory(directory: string, options: UploadDirectoryOptions = {}): Promise<Unpacked> {
    checkOptions('files.uploadDirectory', fileOptions.uploadDirectory, options)
    const { to = '.', onProgress, ...rest } = options
    return uploadDirectory((archive) => this.upload(to, archive, { ...rest, scheme: 'tar' }), directory, {
      onProgress: this.#guarded(onProgress),
    })
  }

  async downloadDirectory(directory: string, options: DownloadDirectoryOptions = {}): Promise<Unpacked> {
    checkOptions('files.downloadDirectory', fileOptions.downloadDirectory, options)
    const { from = '.', onProgress, ...rest } = options
    return downloadDirectory(() => this.download(from, rest), directory, {
      signal: rest.signal,
      onProgress: this.#guarded(onProgress),
    })
  }

  #guarded(onProgress: UploadDirectoryOptions['onProgress']): UploadDirectoryOptions['onProgress'] {
    return onProgress && this.#journal.observerErrors.guard('files.onProgress', onProgress)
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
  ): { fileSystem: SandboxFileSystem; identity: FileIdentity | undefined } {
    checkPath('path', path)
    if (signal?.aborted) throw cancelled(signal)
    const fileSystem = this.#core.files()
    return { fileSystem, identity: user === undefined ? undefined : fileSystem.machine.fileUser(user) }
  }

  #archiveContext(
    fileSystem: SandboxFileSystem,
    identity: FileIdentity | undefined,
    { signal }: FileOptions,
  ): ArchiveContext {
    return {
      context: fileSystem.context,
      limits: this.#core.settings.archiveLimits,
      identity,
      signal: anySignal(signal, fileSystem.shutdownSignal),
    }
  }

  /** Runs a synchronous operation that changes nothing. */
  #operateInOneCommit<T>(
    op: string,
    path: string,
    options: FileOptions,
    run: (fileSystem: SandboxFileSystem, identity: FileIdentity | undefined) => T,
    finish?: (result: T) => OperationData,
  ): Promise<T> {
    return this.#journal.operateInOneCommit(
      op,
      pathData(path, options),
      () => {
        const { fileSystem, identity } = this.#prepareCall(path, options)
        return run(fileSystem, identity)
      },
      finish && { finish },
    )
  }

  #operate<T>(
    op: string,
    path: string,
    startData: OperationData,
    options: FileOptions,
    run: (
      fileSystem: SandboxFileSystem,
      identity: FileIdentity | undefined,
      signal: AbortSignal,
    ) => T | Promise<T>,
    finish?: (result: T) => OperationData,
  ): Promise<T> {
    const { signal } = options
    return this.#journal
      .operate(
        op,
        startData,
        async () => {
          const { fileSystem, identity } = this.#prepareCall(path, options)
          try {
            return await fileSystem.tracked(() =>
              run(fileSystem, identity, anySignal(signal, fileSystem.shutdownSignal)),
            )
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

function streamOf(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      if (bytes.byteLength > 0) controller.enqueue(bytes)
      controller.close()
    },
  })
}
