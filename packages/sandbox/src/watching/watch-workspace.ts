import { buffer } from 'node:stream/consumers'
import type { Handle } from '@vitrine/archives'
import type { Journal, Store } from '@vitrine/journal'
import type { EventContext } from '@vitrine/protocol'
import { FindDisk, type FindRun } from './find-disk.ts'
import { entryStat, handleDisk } from './handle-disk.ts'
import { ignoreMatcher } from './ignore.ts'
import { NativeWatcher } from './native.ts'
import type { TreeNode } from './node.ts'
import { PollWatcher } from './poll.ts'
import { PrivatePaths } from './private-paths.ts'
import { ChangeRecorder } from './recorder.ts'
import type { WatchSettings } from './settings.ts'
import { Tree } from './tree.ts'
import { UncoveredReporter } from './uncovered.ts'

/** Watches a workspace and journals its changes. */
export interface Watcher {
  /** Resolves once every change made before the call is in the journal. */
  flush(): Promise<void>
  /** Flushes a last time and stops watching. */
  close(): Promise<void>
}

export interface WatchWorkspaceOptions {
  readonly root: Handle
  /** The root's path as processes in the sandbox see it. */
  readonly path: string
  readonly settings: WatchSettings
  readonly journal: Journal
  readonly store: Store
  /** A folder that only the host can access. */
  readonly marks: string
  /** Paths that the host writes itself. */
  readonly privatePaths?: PrivatePaths
  readonly signal: AbortSignal
  /** The context for events that are committed now. */
  context(): EventContext
  /** Whether the manifest makes the changes that are committed now. */
  isPreparing(): boolean
  /** Runs a command in the workspace, for the mode `find`. */
  run(argv: readonly string[]): FindRun
}

/** Starts the watcher of a sandbox. Resolves after the initial scan. */
export async function watchWorkspace(
  options: WatchWorkspaceOptions,
): Promise<Watcher & { readonly entries: number }> {
  const {
    root,
    path,
    settings,
    journal,
    store,
    context,
    isPreparing,
    privatePaths = new PrivatePaths([]),
  } = options
  const startFailed = new AbortController()
  const signal = AbortSignal.any([options.signal, startFailed.signal])
  const uncovered = new UncoveredReporter(journal)
  const { imagesTotalBytes } = settings
  const recorder = new ChangeRecorder({
    journal,
    store,
    imagesTotalBytes,
    privatePaths,
    signal,
    context,
    isPreparing,
  })
  const failed = (error: unknown) => {
    if (!signal.aborted) uncovered.add('', `Checking the workspace for changes failed: ${String(error)}`)
  }
  let onNotice: ((node: TreeNode, name: string | null) => void) | undefined
  const found = settings.mode === 'find' ? findDisk(options) : undefined
  const tree = new Tree(
    {
      disk: found ?? handleDisk(root),
      ignored: privatePaths.ignoring(ignoreMatcher(settings.ignore)),
      maxEntries: settings.maxEntries,
      imageBytes: settings.imageBytes,
      ...(settings.mode === 'native' && {
        onNotice: (node: TreeNode, name: string | null) => onNotice?.(node, name),
      }),
      onUncovered: (uncoveredPath, reason) => uncovered.add(uncoveredPath, reason),
    },
    entryStat(root.stats),
  )
  const common = { tree, recorder, signal, failed }
  let watcher: NativeWatcher | PollWatcher
  if (settings.mode === 'native') {
    const native = new NativeWatcher({ ...common, marks: options.marks })
    onNotice = native.onNotice
    watcher = native
  } else {
    const refresh = found && (() => found.refresh())
    watcher = new PollWatcher({ ...common, intervalMs: settings.intervalMs, ...(refresh && { refresh }) })
  }
  try {
    await watcher.start()
    await uncovered.flush()
    await journal.append([
      { type: 'watch.ready', data: { root: path, mode: settings.mode, entries: tree.entries } },
    ])
  } catch (error) {
    // Skip the final flush: changes so far are not needed, and the journal may not accept anything.
    startFailed.abort()
    await watcher.close().catch(() => undefined)
    throw error
  }
  return {
    entries: tree.entries,
    flush: async () => {
      await watcher.flush()
      await uncovered.flush()
    },
    close: async () => {
      await watcher.close()
      await uncovered.flush()
    },
  }
}

function findDisk({ run, settings: { ignore, imageBytes } }: WatchWorkspaceOptions): FindDisk {
  return new FindDisk({
    run,
    prune: ignore,
    imageBytes,
    async read(path, maxBytes) {
      const { stdout, exit } = run(['head', '-c', String(maxBytes + 1), '--', path])
      const bytes = await buffer(stdout)
      return (await exit).exitCode === 0 ? bytes : undefined
    },
  })
}
