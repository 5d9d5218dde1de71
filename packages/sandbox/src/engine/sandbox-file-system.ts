import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Journal, Store } from '@vitrine/journal'
import { VitrineError } from '@vitrine/protocol'
import { AccessRoots, type RootMount } from '../files/access-roots.ts'
import type { FileContext } from '../files/file-context.ts'
import { Staging } from '../files/staging.ts'
import type { Launched, Machine } from '../machine/machine.ts'
import type { FindRun } from '../watching/find-disk.ts'
import { type Watcher, watchWorkspace } from '../watching/watch-workspace.ts'
import { withoutOperation } from '../without-operation.ts'
import type { ActiveTurns } from './active-turns.ts'
import type { Settings } from './settings.ts'

const closingMs = 5_000

/** The files of a sandbox that runs, and whoever watches them. */
export class SandboxFileSystem {
  readonly context: FileContext
  readonly machine: Machine
  readonly #ending = new AbortController()
  readonly #unwatching = new AbortController()
  readonly #calls = new Set<Promise<void>>()
  /** Then it sees nothing while commands are paused. */
  readonly watchesViaExec: boolean
  #watcher: Watcher | undefined

  private constructor(room: FileContext, machine: Machine, looksByCommands: boolean) {
    this.context = room
    this.machine = machine
    this.watchesViaExec = looksByCommands
  }

  static async open(
    settings: Settings,
    machine: Machine,
    journal: Journal,
    store: Store,
    turns: ActiveTurns,
  ): Promise<SandboxFileSystem> {
    const { folders, grants, watch } = settings
    const staging = Staging.open(folders.staging, folders.root)
    let places: AccessRoots | undefined
    try {
      places = AccessRoots.open({
        root: machine.root,
        home: machine.home,
        grants,
        mounts: mountsIn(settings, machine),
        onDisk: (path) => machine.onDisk(path),
      })
      const side = new SandboxFileSystem(
        { places, staging, chownsToOwner: machine.givesFilesAway },
        machine,
        watch?.mode === 'find',
      )
      await journal.operate('prepare_staging', {}, () => staging.clear())
      if (watch !== undefined)
        side.#watcher = await journal.operate(
          'start_watching',
          { mode: watch.mode, ignore: watch.ignore },
          () =>
            withoutOperation(() =>
              watchWorkspace({
                root: side.context.places.root.directory,
                path: machine.root,
                settings: watch,
                journal,
                store,
                marks: join(folders.state, 'marks'),
                run: (argv) => runQuietly(machine, argv),
                signal: AbortSignal.any([side.#unwatching.signal, store.lost]),
                context: () => turns.only ?? {},
              }),
            ),
          { finish: ({ entries }) => ({ entries }) },
        )
      return side
    } catch (error) {
      staging.close()
      places?.close()
      throw error
    }
  }

  /** Aborted when the sandbox ends: calls and streams that are still open end with it. */
  get ending(): AbortSignal {
    return this.#ending.signal
  }

  /** A call on the files. The end of the sandbox waits for it: what it has begun must not be cut in two. */
  async tracked<T>(call: () => T | Promise<T>): Promise<T> {
    const over = Promise.withResolvers<void>()
    this.#calls.add(over.promise)
    try {
      return await call()
    } finally {
      this.#calls.delete(over.promise)
      over.resolve()
    }
  }

  /** Once every change made before the call is in the journal. */
  async flush(): Promise<void> {
    await this.mustBeWatched().flush()
  }

  /** The same, where it is watched at all. */
  async flushWatcher(): Promise<void> {
    await this.#watcher?.flush()
  }

  mustBeWatched(): Watcher {
    if (this.#watcher === undefined)
      throw new VitrineError('unsupported', 'The workspace is not watched: `watch` was set to false.')
    return this.#watcher
  }

  /** Who looks by commands looks a last time before there are none. */
  async flushBeforeShutdown(): Promise<void> {
    if (!this.watchesViaExec) return
    await this.#endCalls()
    await this.#withinLimit(this.flushWatcher())
    this.#unwatching.abort()
  }

  /** Ends with a last look, so that what processes and calls did to the end is on record. */
  async close(): Promise<void> {
    await this.#endCalls()
    const closed = this.#watcher?.close().catch(() => undefined)
    await this.#withinLimit(closed)
    this.#unwatching.abort()
    await closed
    await this.context.staging.clear().catch(() => undefined)
    this.context.staging.close()
    this.context.places.close()
  }

  async #endCalls(): Promise<void> {
    this.#ending.abort()
    await Promise.all(this.#calls)
  }

  async #withinLimit(work: Promise<unknown> | undefined): Promise<void> {
    await Promise.race([work?.catch(() => undefined), sleep(closingMs, undefined, { ref: false })])
  }
}

/** Directories of this machine that commands see in the workspace. */
function mountsIn({ binds }: Settings, { root, capabilities }: Machine): readonly RootMount[] {
  if (capabilities.isolation === 'none') return []
  return binds.filter(({ source, target }) => target.startsWith(`${root}/`) && statSync(source).isDirectory())
}

/** A command of the watcher's own: what it is for is on record already. */
function runQuietly(machine: Machine, argv: readonly string[]): FindRun {
  const { root: cwd, environment: env } = machine
  const launched = machine.launch({ argv, cwd, env, input: false })
  const exit = launched.then(async ({ ended }) => ({ exitCode: (await ended).code }))
  // What could not be started fails where its output is read.
  exit.catch(() => undefined)
  return { stdout: outputOf(launched), exit }
}

async function* outputOf(launched: Promise<Launched>): AsyncGenerator<Uint8Array> {
  const { pipes } = await launched
  pipes?.stderr.resume()
  yield* pipes?.stdout ?? []
}

/** Whatever comes first: the caller's signal or the end of the sandbox. */
export function untilEither(signal: AbortSignal | undefined, ending: AbortSignal): AbortSignal {
  return signal === undefined ? ending : AbortSignal.any([signal, ending])
}

/** What a sandbox that is destroyed leaves beside its workspace. */
export function removeStaging({ folders }: Settings): void {
  rmSync(folders.staging, { recursive: true, force: true })
}
