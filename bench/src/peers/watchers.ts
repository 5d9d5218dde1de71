import { relative } from 'node:path'
import { loadPeer } from './load.ts'
import { localProcess } from './tanstack.ts'

export type ChangeType = 'created' | 'changed' | 'deleted'

/** Called with the kind of change and the path relative to the root. */
export type OnChange = (what: ChangeType, path: string) => void

export interface PeerWatcher {
  readonly name: string
  /** The work that our figure includes and the peer does not do. */
  readonly without: string
  /** The pause between two writes, so that each is reported separately. */
  readonly pauseMs: number
  /** The time without events after which no more are expected. */
  readonly quietMs: number
  start(root: string, onChange: OnChange): Promise<() => Promise<void>>
}

interface Parcel {
  subscribe(
    root: string,
    onChange: (
      error: Error | null,
      events: readonly { type: 'create' | 'update' | 'delete'; path: string }[],
    ) => void,
  ): Promise<{ unsubscribe(): Promise<void> }>
}

const parcel: PeerWatcher = {
  name: '@parcel/watcher 2.6.0',
  without: 'no journal, no contents stored; reports in batches after 50 ms',
  pauseMs: 70,
  quietMs: 1_000,
  async start(root, onChange) {
    // As its declarations say; it is not among our own dependencies.
    const { subscribe } = ((await loadPeer('@parcel', 'watcher', 'index.js')) as { default: Parcel }).default
    const changeTypes = { create: 'created', update: 'changed', delete: 'deleted' } as const
    const subscription = await subscribe(root, (_, events) => {
      for (const { type, path } of events ?? []) onChange(changeTypes[type], relative(root, path))
    })
    return () => subscription.unsubscribe()
  },
}

interface Chokidar {
  watch(
    root: string,
    options: { ignoreInitial: boolean },
  ): {
    on(event: 'all', listener: (what: string, path: string) => void): unknown
    on(event: 'error', listener: (error: unknown) => void): unknown
    once(event: 'ready', listener: () => void): unknown
    close(): Promise<void>
  }
}

const chokidar: PeerWatcher = {
  name: 'chokidar 6.0.0',
  without: 'no journal, no contents stored',
  pauseMs: 15,
  quietMs: 1_500,
  async start(root, onChange) {
    // As its declarations say; it is not among our own dependencies.
    const { watch } = (await loadPeer('chokidar', 'index.js')) as Chokidar
    const changeTypes: Readonly<Record<string, ChangeType>> = {
      add: 'created',
      addDir: 'created',
      change: 'changed',
      unlink: 'deleted',
      unlinkDir: 'deleted',
    }
    const watcher = watch(root, { ignoreInitial: true })
    watcher.on('all', (what, path) => {
      const change = changeTypes[what]
      if (change !== undefined) onChange(change, relative(root, path))
    })
    watcher.on('error', () => undefined)
    await new Promise<void>((resolve) => watcher.once('ready', resolve))
    return () => watcher.close()
  },
}

interface WatchWorkspace {
  watchWorkspace(
    handle: unknown,
    options: { onEvent(event: { type: 'create' | 'change' | 'delete'; path: string }): void },
  ): Promise<{ stop(): Promise<void> }>
}

const tanstack: PeerWatcher = {
  name: 'TanStack watchWorkspace 0.2.4',
  without: 'no journal; polls every 700 ms',
  pauseMs: 100,
  quietMs: 2_500,
  async start(root, onChange) {
    const path = ['@tanstack', 'ai-sandbox', 'dist', 'esm', 'index.js']
    // As its declarations say; it is not among our own dependencies.
    const { watchWorkspace } = (await loadPeer(...path)) as WatchWorkspace
    const handle = await localProcess({ dir: root })
    const changeTypes = { create: 'created', change: 'changed', delete: 'deleted' } as const
    const watching = await watchWorkspace(handle, {
      onEvent: ({ type, path }) => onChange(changeTypes[type], relative('/workspace', path)),
    })
    return () => watching.stop()
  },
}

export const peerWatchers = { parcel, chokidar, tanstack }

export type PeerWatcherName = keyof typeof peerWatchers
