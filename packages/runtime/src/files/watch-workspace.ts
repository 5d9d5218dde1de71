import { isGap, type JournalItem, type SandboxCore, VitrineError } from '@vitrine/protocol'
import { checkOptions, runOptions } from '@vitrine/protocol/options'
import { ignoreMatcher, isBelowIgnored, notifyOne } from '@vitrine/protocol/primitives'
import { type FileChanged, fileEvent, isFileChanged, type SandboxFileEvent } from './file-event.ts'

/** The part of a sandbox that a watch uses. */
type WorkspaceSandbox = Pick<SandboxCore, 'id' | 'capabilities' | 'files' | 'journal'>

export interface WorkspaceWatchOptions {
  /** Called with each change, in order. It is not awaited. */
  onEvent(event: SandboxFileEvent): unknown
  /** Names anywhere, or paths from the root, with `*`; default `.git` and `node_modules`. */
  readonly ignore?: readonly string[]
  /** Called with the error that ends the watch, and with those of `onEvent`. */
  onError?(error: unknown): unknown
  /** Ends the watch at once, without the barrier of `stop`. */
  readonly signal?: AbortSignal
}

export interface WorkspaceWatch extends AsyncDisposable {
  /** Delivers every change that was made before the call, then ends the watch. */
  stop(): Promise<void>
}

const defaultIgnore = ['.git', 'node_modules']

/**
 * Calls a function with every change of a sandbox's files from this call on, whoever makes it. It reads the journal, so it
 * works wherever the sandbox is.
 *
 * @example
 * const watcher = await watchWorkspace(sandbox, { onEvent: ({ type, path }) => console.log(type, path) })
 * await watcher.stop()
 */
export async function watchWorkspace(
  sandbox: WorkspaceSandbox,
  options: WorkspaceWatchOptions,
): Promise<WorkspaceWatch> {
  checkOptions('watchWorkspace', runOptions.watchWorkspace, options ?? {})
  const { id, capabilities, journal } = sandbox
  if (capabilities.watching === 'none')
    throw new VitrineError('unsupported', `The files of the sandbox ${id} are not watched.`)
  const [newest] = (await journal.read({ order: 'desc', limit: 1 })).events
  return new FileWatch(sandbox, options, newest && journal.cursor(newest))
}

class FileWatch implements WorkspaceWatch {
  readonly #sandbox: WorkspaceSandbox
  readonly #options: WorkspaceWatchOptions
  readonly #isIgnored: (path: string) => boolean
  readonly #ended = new AbortController()
  readonly #done: Promise<void>
  /** Up to where changes are seen, delivered or ignored. */
  #seen = 0
  /** The last change to deliver, once the watch stops. */
  #last: number | undefined
  #stopped: Promise<void> | undefined

  constructor(sandbox: WorkspaceSandbox, options: WorkspaceWatchOptions, after: string | undefined) {
    const ignored = ignoreMatcher(options.ignore ?? defaultIgnore)
    this.#sandbox = sandbox
    this.#options = options
    this.#isIgnored = (path) => isBelowIgnored(ignored, path)
    this.#done = this.#follow(after).catch((error: unknown) => this.#report(error))
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop()
    return this.#stopped
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  async #stop(): Promise<void> {
    const { files } = this.#sandbox
    // A sandbox that is stopped or destroyed has no other changes than those on record.
    await files.flush().catch((error: unknown) => this.#report(error))
    this.#last = await this.#newest()
    if (this.#seen >= this.#last) this.#ended.abort()
    await this.#done
  }

  async #newest(): Promise<number> {
    try {
      const { events } = await this.#sandbox.journal.read({ types: ['file.*'], order: 'desc', limit: 1 })
      return events[0] === undefined ? 0 : seqOf(events[0])
    } catch (error) {
      this.#report(error)
      return this.#seen
    }
  }

  async #follow(after: string | undefined): Promise<void> {
    const { signal } = this.#options
    const ended = signal === undefined ? this.#ended.signal : AbortSignal.any([this.#ended.signal, signal])
    const from = after === undefined ? {} : { after }
    for await (const item of this.#sandbox.journal.tail({ ...from, types: ['file.*'], signal: ended })) {
      if (isGap(item)) this.#report(missed())
      else if (isFileChanged(item)) this.#deliver(item)
      this.#seen = seqOf(item)
      if (this.#last !== undefined && this.#seen >= this.#last) return
    }
  }

  #deliver(item: FileChanged): void {
    const { path, previousPath } = item.data
    if (this.#isIgnored(path) && (previousPath === undefined || this.#isIgnored(previousPath))) return
    const { onEvent } = this.#options
    void notifyOne(onEvent, fileEvent(item, this.#sandbox.journal), (error) => this.#report(error))
  }

  #report(error: unknown): void {
    const { onError } = this.#options
    if (onError !== undefined) void notifyOne(onError, error, () => undefined)
  }
}

function seqOf(item: JournalItem): number {
  return isGap(item) ? item.data.to : item.seq
}

function missed(): VitrineError {
  return new VitrineError(
    'reader_fell_behind',
    'Changes of files were trimmed from the journal before they were read.',
  )
}
