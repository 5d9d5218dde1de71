import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Handle } from '@vitrine/archives'
import { type Journal, memoryStore, openStore, type Store } from '@vitrine/journal'
import { type JournalEvent, readPages, type WatchOptions } from '@vitrine/protocol'
import { onTestFinished } from 'vitest'
import { watchSettings } from '../../src/watching/settings.ts'
import type { Watcher } from '../../src/watching/watch-workspace.ts'
import { watchWorkspace } from '../../src/watching/watch-workspace.ts'

/** A workspace that is watched, without a sandbox around it. */
export interface Scene {
  readonly root: string
  readonly store: Store
  readonly journal: Journal
  readonly watcher: Watcher & { readonly entries: number }
  /** The events of the watcher, in order. */
  events(): Promise<JournalEvent[]>
  close(): Promise<void>
}

export interface SceneOptions extends WatchOptions {
  /** Creates files before the watcher starts. */
  prepare?(root: string): void
}

/** The caller closes it. */
export async function newScene({ prepare, ...options }: SceneOptions = {}): Promise<Scene> {
  const folder = mkdtempSync(join('/var/tmp', 'vitrine-watch-'))
  const root = join(folder, 'workspace')
  mkdirSync(root)
  prepare?.(root)
  const store = await openStore(memoryStore())
  const journal = await store.journal('sbx_test', { source: 'engine' })
  const directory = Handle.directory(root)
  const ending = new AbortController()
  const watcher = await watchWorkspace({
    root: directory,
    path: root,
    settings: watchSettings(options),
    journal,
    store,
    marks: join(folder, 'marks'),
    signal: ending.signal,
    context: () => ({}),
    isPreparing: () => false,
    run: () => {
      throw new Error('There are no commands in this scene.')
    },
  })
  return {
    root,
    store,
    journal,
    watcher,
    events: () => watchEvents(journal),
    async close() {
      await watcher.close().catch(() => undefined)
      ending.abort()
      directory.close()
      await store.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** For one test. */
export async function openScene(options?: SceneOptions): Promise<Scene> {
  const scene = await newScene(options)
  onTestFinished(() => scene.close())
  return scene
}

async function watchEvents(journal: Journal): Promise<JournalEvent[]> {
  const found: JournalEvent[] = []
  const types = ['file.*', 'watch.*', 'limit.reached']
  for await (const { events } of readPages(journal, { types, limit: 1_000 }))
    for (const item of events) if ('seq' in item) found.push(item)
  return found
}

/** The changes alone, as `created a`, or `moved a → b`. */
export async function toldBy(scene: Scene): Promise<string[]> {
  return (await scene.events()).filter(({ type }) => type.startsWith('file.')).map(shown)
}

export function shown({ type, data }: JournalEvent): string {
  const { path, previousPath } = data
  const kind = type.replace('file.', '')
  return previousPath === undefined ? `${kind} ${path}` : `${kind} ${previousPath} → ${path}`
}
