import { statSync } from 'node:fs'
import { join } from 'node:path'
import { AccessRoots, type RootMount } from '@vitrine/archives'
import type { Journal, Store } from '@vitrine/journal'
import { isVitrineError, VitrineError } from '@vitrine/protocol'
import { settledWithin } from '@vitrine/protocol/primitives'
import type { FileContext } from '../files/file-context.ts'
import { Staging } from '../files/staging.ts'
import type { Launched, Machine } from '../machine/machine.ts'
import type { FindRun } from '../watching/find-disk.ts'
import { PrivatePaths } from '../watching/private-paths.ts'
import { type Watcher, watchWorkspace } from '../watching/watch-workspace.ts'
import { withoutOperation } from '../without-operation.ts'
import type { ActiveTurns } from './active-turns.ts'
import type { SandboxSettings } from './settings.ts'

const closingMs = 5_000

interface FileSystemSettings extends SandboxSettings {
  /** The size of the volume that holds the workspace, if it has one. */
  readonly volumeBytes: number | undefined
}

/** The files of a running sandbox, and their watcher. */
export class SandboxFileSystem {
  readonly context: FileContext
  readonly machine: Machine
  readonly #shutdown = new AbortController()
  readonly #stopWatching = new AbortController()
  readonly #calls = new Set<Promise<void>>()
  /** Whether the watcher runs commands in the sandbox; if so, it sees no changes while the sandbox is paused. */
  readonly watchesViaExec: boolean
  readonly #privatePaths: PrivatePaths
  readonly #volumeBytes: number | undefined
  #watcher: Watcher | undefined

  private constructor(
    context: FileContext,
    machine: Machine,
    { watch, privatePaths, volumeBytes }: FileSystemSettings,
  ) {
    this.context = context
    this.machine = machine
    this.watchesViaExec = watch?.mode === 'find'
    this.#privatePaths = new PrivatePaths(privatePaths)
    this.#volumeBytes = volumeBytes
  }

  static async open(
    settings: FileSystemSettings,
    machine: Machine,
    journal: Journal,
    store: Store,
    turns: ActiveTurns,
  ): Promise<SandboxFileSystem> {
    const { folders, grants, watch } = settings
    const staging = Staging.open(folders.staging, folders.root)
    let roots: AccessRoots | undefined
    try {
      roots = AccessRoots.open({
        root: machine.root,
        home: machine.home,
        grants,
        mounts: mountsIn(settings, machine),
        onDisk: (path) => machine.onDisk(path),
      })
      const fileSystem = new SandboxFileSystem(
        { roots, staging, chownsToOwner: machine.chownsFiles },
        machine,
        settings,
      )
      await journal.operate('prepare_staging', {}, () => staging.clear())
      if (watch !== undefined)
        fileSystem.#watcher = await journal.operate(
          'start_watching',
          { mode: watch.mode, ignore: watch.ignore },
          () =>
            withoutOperation(() =>
              watchWorkspace({
                root: fileSystem.context.roots.root.directory,
                path: machine.root,
                settings: watch,
                journal,
                store,
                marks: join(folders.state, 'marks'),
                privatePaths: fileSystem.#privatePaths,
                run: (argv) => runQuietly(machine, argv),
                signal: AbortSignal.any([fileSystem.#stopWatching.signal, store.lost]),
                context: () => turns.only ?? {},
                isPreparing: () => turns.isPreparing,
              }),
            ),
          { finish: ({ entries }) => ({ entries }) },
        )
      return fileSystem
    } catch (error) {
      staging.close()
      roots?.close()
      throw error
    }
  }

  /** Aborted when the sandbox shuts down, to end the calls and streams that are still open. */
  get shutdownSignal(): AbortSignal {
    return this.#shutdown.signal
  }

  /** Runs a call on the files. The shutdown awaits it, so that no change is left half done. */
  async tracked<T>(call: () => T | Promise<T>): Promise<T> {
    const ended = Promise.withResolvers<void>()
    this.#calls.add(ended.promise)
    try {
      return await call()
    } catch (error) {
      throw this.#volumeBytes === undefined ? error : withDiskLimit(error, this.#volumeBytes)
    } finally {
      this.#calls.delete(ended.promise)
      ended.resolve()
    }
  }

  /** The watcher reports no directory that the host makes for a file of its own. */
  addPrivateDirectory(path: string): void {
    if (this.#watcher !== undefined) this.#privatePaths.addMade(path)
  }

  /** Resolves once every change made before the call is in the journal. */
  async flush(): Promise<void> {
    await this.requireWatcher().flush()
  }

  /** Like `flush`, but does nothing where the workspace is not watched. */
  async flushWatcher(): Promise<void> {
    await this.#watcher?.flush()
  }

  requireWatcher(): Watcher {
    if (this.#watcher === undefined)
      throw new VitrineError('unsupported', 'The workspace is not watched: `watch` was set to false.')
    return this.#watcher
  }

  /** A watcher that runs commands scans a last time before the machine shuts down. */
  async flushBeforeShutdown(): Promise<void> {
    if (!this.watchesViaExec) return
    await this.#endCalls()
    await settledWithin(this.flushWatcher(), closingMs)
    this.#stopWatching.abort()
  }

  /** Closes the watcher after a last scan, so that the journal has all changes by processes and calls. */
  async close(): Promise<void> {
    await this.#endCalls()
    const closed = this.#watcher?.close().catch(() => undefined)
    await settledWithin(closed, closingMs)
    this.#stopWatching.abort()
    await closed
    await this.context.staging.clear().catch(() => undefined)
    this.context.staging.close()
    this.context.roots.close()
  }

  async #endCalls(): Promise<void> {
    this.#shutdown.abort()
    await Promise.all(this.#calls)
  }
}

/** The host's directories that are mounted in the workspace. */
function mountsIn({ binds }: SandboxSettings, { root, capabilities }: Machine): readonly RootMount[] {
  if (capabilities.isolation === 'none') return []
  return binds.filter(({ source, target }) => target.startsWith(`${root}/`) && statSync(source).isDirectory())
}

/** Runs a command of the watcher without an operation: `start_watching` is in the journal already. */
function runQuietly(machine: Machine, argv: readonly string[]): FindRun {
  const { root: cwd, environment: env } = machine
  const launched = machine.launch({ argv, cwd, env, input: false })
  const exit = launched.then(async ({ ended }) => ({ exitCode: (await ended).code }))
  // A failed launch rejects where its output is read.
  exit.catch(() => undefined)
  return { stdout: outputOf(launched), exit }
}

async function* outputOf(launched: Promise<Launched>): AsyncGenerator<Uint8Array> {
  const { pipes } = await launched
  pipes?.stderr.resume()
  yield* pipes?.stdout ?? []
}

/** Aborts with the caller's signal or with the sandbox's shutdown, whichever comes first. */
export function anySignal(signal: AbortSignal | undefined, shutdown: AbortSignal): AbortSignal {
  return signal === undefined ? shutdown : AbortSignal.any([signal, shutdown])
}

/** A full volume is the limit of the sandbox, not a full disk of the host. */
function withDiskLimit(error: unknown, max: number): unknown {
  if (!isVitrineError(error) || error.code !== 'disk_full') return error
  const message = `${error.message} The sandbox may hold ${max} bytes (diskBytes).`
  return new VitrineError('disk_limit', message, { cause: error, details: { limit: 'diskBytes', max } })
}
