import { buffer } from 'node:stream/consumers'
import type { Journal, Store } from '@vitrine/journal'
import type { EventContext } from '@vitrine/protocol'
import type { Handle } from '../files/handle.ts'
import { FindDisk, type FindRun } from './find-disk.ts'
import { handleDisk, seenOf } from './handle-disk.ts'
import { ignoring } from './ignore.ts'
import { NativeWatcher } from './native.ts'
import type { Node } from './node.ts'
import { PollWatcher } from './poll.ts'
import { ChangeRecorder } from './recorder.ts'
import type { WatchSettings } from './settings.ts'
import { Tree } from './tree.ts'
import { Uncovered } from './uncovered.ts'
import type { Watcher } from './watcher.ts'

export interface WatchWorkspace {
  readonly root: Handle
  /** As processes see it. */
  readonly path: string
  readonly settings: WatchSettings
  readonly journal: Journal
  readonly store: Store
  /** A folder of the host's alone. */
  readonly marks: string
  readonly signal: AbortSignal
  /** What a change belongs to that is told now. */
  context(): EventContext
  /** Runs a command in the workspace, for the mode `find`. */
  run(argv: readonly string[]): FindRun
}

/** The one watcher of a sandbox. Resolves once it knows everything that is there. */
export async function watchWorkspace(
  options: WatchWorkspace,
): Promise<Watcher & { readonly entries: number }> {
  const { root, path, settings, journal, store, context } = options
  const givenUp = new AbortController()
  const signal = AbortSignal.any([options.signal, givenUp.signal])
  const uncovered = new Uncovered(journal)
  const { imagesTotalBytes } = settings
  const recorder = new ChangeRecorder({ journal, store, imagesTotalBytes, signal, context })
  const failed = (error: unknown) => {
    if (!signal.aborted) uncovered.add('', `Looking at it failed: ${String(error)}`)
  }
  let heard: ((node: Node, name: string | null) => void) | undefined
  const found = settings.mode === 'find' ? findDisk(options) : undefined
  const tree = new Tree(
    {
      disk: found ?? handleDisk(root),
      ignored: ignoring(settings.ignore),
      maxEntries: settings.maxEntries,
      imageBytes: settings.imageBytes,
      ...(settings.mode === 'native' && {
        onNotice: (node: Node, name: string | null) => heard?.(node, name),
      }),
      onUncovered: (where, reason) => uncovered.add(where, reason),
    },
    seenOf(root.stats),
  )
  const common = { tree, recorder, signal, failed }
  let watcher: NativeWatcher | PollWatcher
  if (settings.mode === 'native') {
    const native = new NativeWatcher({ ...common, marks: options.marks })
    heard = native.heard
    watcher = native
  } else {
    const refresh = found && (() => found.refresh())
    watcher = new PollWatcher({ ...common, intervalMs: settings.intervalMs, ...(refresh && { refresh }) })
  }
  try {
    await watcher.begin()
    await uncovered.said()
    await journal.append([
      { type: 'watch.ready', data: { root: path, mode: settings.mode, entries: tree.entries } },
    ])
  } catch (error) {
    // Nobody waits for what changed meanwhile, least of all for a journal that takes nothing.
    givenUp.abort()
    await watcher.close().catch(() => undefined)
    throw error
  }
  return {
    entries: tree.entries,
    flush: async () => {
      await watcher.flush()
      await uncovered.said()
    },
    close: async () => {
      await watcher.close()
      await uncovered.said()
    },
  }
}

function findDisk({ run, settings: { ignore, imageBytes } }: WatchWorkspace): FindDisk {
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
