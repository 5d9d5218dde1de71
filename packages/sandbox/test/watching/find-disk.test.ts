import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { TimeSlice, toBytes } from '@vitrine/archives'
import { describe, expect, it, onTestFinished } from 'vitest'
import { FindDisk, type FindRun } from '../../src/watching/find-disk.ts'
import { entryStat } from '../../src/watching/handle-disk.ts'
import { ignoreMatcher } from '../../src/watching/ignore.ts'
import { PollWatcher } from '../../src/watching/poll.ts'
import { ChangeRecorder } from '../../src/watching/recorder.ts'
import { Tree } from '../../src/watching/tree.ts'
import { eventsOf, openJournal } from '../output/journals.ts'
import { shown } from './fixture.ts'
import { differences, Fold, rescan } from './fold.ts'

type Run = (argv: readonly string[], root: string) => FindRun

const gnu: Run = (argv, root) => {
  const child = spawn(argv[0]!, argv.slice(1), { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] })
  return {
    stdout: child.stdout,
    exit: once(child, 'exit').then(([exitCode]: (number | null)[]) => ({ exitCode: exitCode ?? null })),
  }
}

/** Like BusyBox, without -printf. */
const busybox: Run = (argv, root) =>
  argv.join(' ').includes('-printf') ? said('find: unrecognized: -printf\n', 1) : gnu(argv, root)

function said(text: string, exitCode: number | null): FindRun {
  return {
    stdout: (async function* () {
      yield Buffer.from(text)
    })(),
    exit: Promise.resolve({ exitCode }),
  }
}

async function polled(run: Run, prepare: (root: string) => void = () => undefined) {
  const root = mkdtempSync(join('/var/tmp', 'vitrine-watch-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  prepare(root)
  const { store, journal } = await openJournal()
  let now = run
  const disk = new FindDisk({
    run: (argv) => now(argv, root),
    read: async (path, maxBytes) => {
      const bytes = await readFile(toBytes(`${root}/${path}`))
      return bytes.byteLength > maxBytes ? undefined : bytes
    },
    prune: ['.git', 'node_modules', '[x]*'],
    imageBytes: 1_000,
  })
  const uncovered: string[] = []
  const tree = new Tree(
    {
      disk,
      ignored: ignoreMatcher(['.git', 'node_modules', '[x]*']),
      maxEntries: 10_000,
      imageBytes: 1_000,
      onUncovered: (path, reason) => void uncovered.push(`${path}: ${reason}`),
    },
    entryStat(statSync(root)),
  )
  const { signal } = new AbortController()
  const recorder = new ChangeRecorder({ journal, store, imagesTotalBytes: 1e9, signal })
  await disk.refresh()
  await tree.initialScan(new TimeSlice())
  const start = rescan(root)
  const watcher = new PollWatcher({
    tree,
    recorder,
    signal,
    intervalMs: 1e8,
    refresh: () => disk.refresh(),
    failed: () => undefined,
  })
  onTestFinished(() => watcher.close().catch(() => undefined))
  const events = async () => (await eventsOf(journal)).filter(({ type }) => type.startsWith('file.'))
  return {
    root,
    store,
    watcher,
    uncovered,
    events,
    emitted: async () => (await events()).map(shown),
    runsBy(other: Run) {
      now = other
    },
    /** The folded events, compared with the disk. */
    async faults() {
      const fold = new Fold(start)
      for (const event of await events()) fold.add(event)
      fold.end()
      return [
        ...fold.faults,
        ...differences(fold.tree, rescan(root, new Set(['.git', 'node_modules', '[x]y']))),
      ]
    },
  }
}

describe.each([
  { name: 'GNU find', run: gnu },
  { name: 'a find without -printf', run: busybox },
])('a workspace that is listed by $name', ({ run }) => {
  it('follows all changes of a workspace that is listed with find', async () => {
    const scene = await polled(run, (root) => {
      mkdirSync(join(root, 'old/deep'), { recursive: true })
      writeFileSync(join(root, 'old/deep/file'), 'old')
      writeFileSync(join(root, 'swap-a'), 'aaa')
      writeFileSync(join(root, 'swap-b'), 'bbb')
    })
    const { root, watcher } = scene
    await watcher.flush()
    expect(await scene.emitted()).toEqual([])
    mkdirSync(join(root, '日本語/n\nl'), { recursive: true })
    writeFileSync(join(root, '日本語/n\nl/ファイル.txt'), 'こんにちは')
    writeFileSync(toBytes(`${root}/raw\udcff`), 'raw')
    symlinkSync('/etc/passwd', join(root, 'link'))
    renameSync(join(root, 'old'), join(root, 'new'))
    renameSync(join(root, 'swap-a'), join(root, 'between'))
    renameSync(join(root, 'swap-b'), join(root, 'swap-a'))
    renameSync(join(root, 'between'), join(root, 'swap-b'))
    for (const name of ['.git', 'node_modules', '[x]y']) {
      mkdirSync(join(root, name))
      writeFileSync(join(root, name, 'inside'), 'ignored')
    }
    await watcher.flush()
    expect(await scene.emitted()).toEqual(
      expect.arrayContaining([
        'created 日本語/n\nl/ファイル.txt',
        'created link',
        'moved old/deep/file → new/deep/file',
        'moved old → new',
      ]),
    )
    chmodSync(join(root, '日本語/n\nl/ファイル.txt'), 0o600)
    writeFileSync(join(root, 'swap-a'), 'longer than before')
    rmSync(join(root, 'new'), { recursive: true })
    await watcher.flush()
    expect(await scene.faults()).toEqual([])
    const before = (await scene.emitted()).length
    await watcher.flush()
    expect(await scene.emitted()).toHaveLength(before)
  })

  it.each<[string, Run]>([
    ['fails', (argv, root) => ({ ...gnu(argv, root), exit: Promise.resolve({ exitCode: 1 }) })],
    ['is killed', () => said('', null)],
    ['is killed and says it went well', () => said('', 0)],
    ['is cut off and says it went well', () => said('\0f 644 12 3 1 1 1 0 0 ./a', 0)],
  ])('loses no change when a listing %s', async (_, broken) => {
    const scene = await polled(run, (root) => {
      for (let index = 0; index < 50; index += 1) writeFileSync(join(root, `file-${index}`), '')
    })
    scene.runsBy(broken)
    await expect(scene.watcher.flush()).rejects.toMatchObject({ code: 'file_failed' })
    expect(await scene.emitted()).toEqual([])
    scene.runsBy(run)
    rmSync(join(scene.root, 'file-7'))
    await scene.watcher.flush()
    expect(await scene.emitted()).toEqual(['deleted file-7'])
  })

  it('keeps its variant of find when a listing fails once', async () => {
    const scene = await polled(run, (root) => writeFileSync(join(root, 'file'), 'x'))
    let failures = 1
    scene.runsBy((argv, root) => (failures-- > 0 ? said('', 1) : run(argv, root)))
    await scene.watcher.flush()
    expect(await scene.emitted()).toEqual([])
  })

  it('stores written contents up to a size', async () => {
    const scene = await polled(run)
    writeFileSync(join(scene.root, 'small'), 'content')
    writeFileSync(join(scene.root, 'large'), 'x'.repeat(1_001))
    await scene.watcher.flush()
    const data = Object.fromEntries((await scene.events()).map((event) => [event.data.path, event.data]))
    const { stream } = await scene.store.getBlob(String(data.small?.after))
    expect(await new Response(stream).text()).toBe('content')
    expect(data.large).toMatchObject({ afterOmitted: 'size' })
  })
})

describe('a directory that may not be read', () => {
  it('reports an unreadable directory and follows everything else', async ({ skip }) => {
    // Root can read every directory.
    if (process.geteuid?.() !== 0) return skip()
    const asNobody: Run = (argv, root) =>
      gnu(['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', ...argv], root)
    try {
      execFileSync('setpriv', ['--version'])
    } catch {
      return skip()
    }
    const scene = await polled(asNobody, (root) => {
      chmodSync(root, 0o755)
      mkdirSync(join(root, 'closed'), { mode: 0o700 })
      writeFileSync(join(root, 'closed/secret'), 'x')
    })
    expect(scene.uncovered).toEqual(['closed: It may not be read.'])
    writeFileSync(join(scene.root, 'open'), 'x')
    await scene.watcher.flush()
    expect(await scene.emitted()).toEqual(['created open'])
  })
})
