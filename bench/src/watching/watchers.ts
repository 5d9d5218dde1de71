import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openStore, sqliteStore } from '@vitrine/journal'
import { createLocalSandbox, type LocalSandbox, local } from '@vitrine/sandbox'
import type { ChangeType, PeerWatcher } from '../peers/watchers.ts'
import { now } from './clock.ts'

export interface WatchedChange {
  readonly what: ChangeType | 'moved'
  readonly path: string
  readonly from?: string
  readonly kind?: string
  readonly size?: number
  readonly at: number
}

/** A watcher of a tree and the changes it has reported. */
export interface RunningWatcher {
  readonly changes: readonly WatchedChange[]
  /** The sandbox whose commands write; absent for peers, where a separate process writes. */
  readonly sandbox?: LocalSandbox
  /** Waits until no more changes arrive, or until `enough` returns true. */
  untilQuiet(enough?: () => boolean): Promise<void>
  stop(): Promise<void>
}

/** A sandbox with its journal in SQLite, and a reader of `files.watch()`. */
export async function ours(root: string, folder: string): Promise<RunningWatcher> {
  const store = await openStore(sqliteStore({ path: join(folder, 'journal.db') }))
  const provider = local({ root, data: join(folder, 'data'), binds: [{ source: process.execPath }] })
  const sandbox = await createLocalSandbox({ store, provider })
  const changes: WatchedChange[] = []
  const ending = new AbortController()
  const reading = read(sandbox, changes, ending.signal)
  return {
    changes,
    sandbox,
    async untilQuiet(enough) {
      await sandbox.files.flush()
      // The reader gets the events in a later turn of the event loop.
      await quiet(changes, 200, enough)
    },
    async stop() {
      ending.abort()
      await reading
      await sandbox.close()
      await store.close()
    },
  }
}

async function read(sandbox: LocalSandbox, changes: WatchedChange[], signal: AbortSignal): Promise<void> {
  try {
    for await (const { type, data } of sandbox.files.watch({ signal })) {
      const at = now()
      if (
        type !== 'file.created' &&
        type !== 'file.changed' &&
        type !== 'file.deleted' &&
        type !== 'file.moved'
      )
        continue
      const { path, previousPath, kind, size } = data
      changes.push({
        what: type.slice('file.'.length) as WatchedChange['what'],
        path,
        kind,
        at,
        ...(previousPath !== undefined && { from: previousPath }),
        ...(size !== undefined && { size }),
      })
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

export async function theirs(peer: PeerWatcher, root: string): Promise<RunningWatcher> {
  const changes: WatchedChange[] = []
  const stop = await peer.start(root, (what, path) => changes.push({ what, path, at: now() }))
  return { changes, untilQuiet: (enough) => quiet(changes, peer.quietMs, enough), stop }
}

/** Waits until no change has arrived for the given time. */
async function quiet(
  changes: readonly WatchedChange[],
  milliseconds: number,
  enough: () => boolean = () => false,
): Promise<void> {
  let before = changes.length
  let since = now()
  while (!enough() && now() - since < milliseconds) {
    await sleep(20)
    if (changes.length === before) continue
    before = changes.length
    since = now()
  }
}
