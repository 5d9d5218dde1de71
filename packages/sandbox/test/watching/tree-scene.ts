import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Handle, TimeSlice } from '@vitrine/archives'
import type { JournalEvent } from '@vitrine/protocol'
import { onTestFinished } from 'vitest'
import type { Disk, OpenDirectory } from '../../src/watching/disk.ts'
import { entryStat, handleDisk } from '../../src/watching/handle-disk.ts'
import { ignoreMatcher } from '../../src/watching/ignore.ts'
import { NativeWatcher } from '../../src/watching/native.ts'
import type { TreeNode } from '../../src/watching/node.ts'
import { ChangeRecorder } from '../../src/watching/recorder.ts'
import { Tree } from '../../src/watching/tree.ts'
import { eventsOf, openJournal } from '../output/journals.ts'
import { shown } from './fixture.ts'

export interface TreeScene {
  readonly root: string
  readonly tree: Tree
  readonly watcher: NativeWatcher
  /** Uncovered paths with their reasons. */
  readonly uncovered: string[]
  events(): Promise<JournalEvent[]>
  emitted(): Promise<string[]>
}

/** A workspace whose disk can be made to fail. */
export async function openTreeScene(options: {
  prepare?(root: string): void
  /** Wraps the function that opens a directory. */
  around?(path: string, real: OpenDirectory): OpenDirectory
}): Promise<TreeScene> {
  const folder = mkdtempSync(join('/var/tmp', 'vitrine-watch-'))
  const root = join(folder, 'workspace')
  mkdirSync(root)
  options.prepare?.(root)
  const { store, journal } = await openJournal()
  const directory = Handle.directory(root)
  const ending = new AbortController()
  const uncovered: string[] = []
  let watcher: NativeWatcher | undefined
  const tree = new Tree(
    {
      disk: wrapped(handleDisk(directory), options.around),
      ignored: ignoreMatcher(['.git', 'node_modules']),
      maxEntries: 10_000,
      imageBytes: 1_000_000,
      onNotice: (node: TreeNode, name: string | null) => watcher?.onNotice(node, name),
      onUncovered: (path, reason) => void uncovered.push(`${path}: ${reason}`),
    },
    entryStat(directory.stats),
  )
  const { signal } = ending
  const recorder = new ChangeRecorder({ journal, store, imagesTotalBytes: 1e9, signal })
  watcher = new NativeWatcher({
    tree,
    recorder,
    signal,
    marks: join(folder, 'marks'),
    failed: (error) => void uncovered.push(String(error)),
  })
  onTestFinished(async () => {
    await watcher?.close().catch(() => undefined)
    ending.abort()
    directory.close()
    rmSync(folder, { recursive: true, force: true })
  })
  await tree.initialScan(new TimeSlice())
  const events = async () => (await eventsOf(journal)).filter(({ type }) => type.startsWith('file.'))
  return { root, tree, watcher, uncovered, events, emitted: async () => (await events()).map(shown) }
}

function wrapped(
  disk: Disk,
  around: ((path: string, real: OpenDirectory) => OpenDirectory) | undefined,
): Disk {
  if (around === undefined) return disk
  const wrap = (path: string, real: OpenDirectory): OpenDirectory =>
    around(path, {
      names: () => real.names(),
      stat: (name) => real.stat(name),
      read: (name, maxBytes) => real.read(name, maxBytes),
      watch: (heard) => real.watch(heard),
      close: () => real.close(),
      enter(name) {
        const entered = real.enter(name)
        return entered && wrap(path === '' ? name : `${path}/${name}`, entered)
      },
    })
  return {
    open(node) {
      const real = disk.open(node)
      return real && wrap(node.path, real)
    },
  }
}
