import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  closeSync,
  linkSync,
  lutimesSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { toBytes } from '@vitrine/archives'
import { describe, expect, it } from 'vitest'
import { openScene, type Scene, type SceneOptions, toldBy } from './fixture.ts'
import { differences, Fold, rescan } from './fold.ts'

// The poller checks only during a flush: a check between the creation of a file and its first byte would see two changes.
const modes: SceneOptions[] = [{ mode: 'native' }, { mode: 'poll', intervalMs: 1e8 }]

/** Compares the state that the events since the start lead to with the disk. */
async function faultsOf(scene: Scene, start: ReturnType<typeof rescan>): Promise<string[]> {
  await scene.watcher.flush()
  const fold = new Fold(start)
  for (const event of await scene.events()) if (event.type.startsWith('file.')) fold.add(event)
  fold.end()
  return [...fold.faults, ...differences(fold.tree, rescan(scene.root))]
}

function fill(directory: string, count: number): void {
  mkdirSync(directory, { recursive: true })
  for (let index = 0; index < count; index += 1) writeFileSync(join(directory, `file-${index}`), `${index}`)
}

describe.each(modes)('a watcher, $mode', (options) => {
  it('emits one event for a file that is written at once', async () => {
    const scene = await openScene(options)
    for (let index = 0; index < 20; index += 1) {
      writeFileSync(join(scene.root, `file-${index}`), 'x'.repeat(index))
      await scene.watcher.flush()
    }
    expect(await toldBy(scene)).toEqual(Array.from({ length: 20 }, (_, index) => `created file-${index}`))
  })

  it('emits created once and then changed for a growing file', async () => {
    const scene = await openScene(options)
    const fd = openSync(join(scene.root, 'log'), 'w')
    for (let index = 0; index < 10; index += 1) {
      writeSync(fd, `line ${index}\n`)
      await scene.watcher.flush()
    }
    closeSync(fd)
    await scene.watcher.flush()
    expect(await toldBy(scene)).toEqual(['created log', ...Array<string>(9).fill('changed log')])
  })

  it('emits events of entries before their directory on a move and a deletion', async () => {
    const scene = await openScene({ ...options, prepare: (root) => fill(join(root, 'd/e'), 2) })
    renameSync(join(scene.root, 'd'), join(scene.root, 'f'))
    await scene.watcher.flush()
    rmSync(join(scene.root, 'f'), { recursive: true })
    await scene.watcher.flush()
    const told = await toldBy(scene)
    expect(told.slice(0, 2).toSorted()).toEqual([
      'moved d/e/file-0 → f/e/file-0',
      'moved d/e/file-1 → f/e/file-1',
    ])
    expect(told.slice(2, 4)).toEqual(['moved d/e → f/e', 'moved d → f'])
    expect(told.slice(4, 6).toSorted()).toEqual(['deleted f/e/file-0', 'deleted f/e/file-1'])
    expect(told.slice(6)).toEqual(['deleted f/e', 'deleted f'])
  })

  it('emits events for all 200 entries of a moved and of a deleted directory', async () => {
    const scene = await openScene({ ...options, prepare: (root) => fill(join(root, 'd'), 200) })
    const start = rescan(scene.root)
    renameSync(join(scene.root, 'd'), join(scene.root, 'e'))
    await scene.watcher.flush()
    expect((await toldBy(scene)).filter((line) => line.startsWith('moved'))).toHaveLength(201)
    rmSync(join(scene.root, 'e'), { recursive: true })
    expect(await faultsOf(scene, start)).toEqual([])
    expect((await toldBy(scene)).filter((line) => line.startsWith('deleted'))).toHaveLength(201)
    expect(await toldBy(scene)).toHaveLength(402)
  })

  it('reports a swap of two directories with different entries', async () => {
    const scene = await openScene({
      ...options,
      prepare(root) {
        fill(join(root, 'one'), 3)
        fill(join(root, 'two/deep'), 2)
      },
    })
    const start = rescan(scene.root)
    const at = (name: string) => join(scene.root, name)
    renameSync(at('one'), at('between'))
    renameSync(at('two'), at('one'))
    renameSync(at('between'), at('two'))
    expect(await faultsOf(scene, start)).toEqual([])
  })

  it('reports a directory that replaces its parent', async () => {
    const scene = await openScene({
      ...options,
      prepare(root) {
        fill(join(root, 'outer/inner'), 3)
        fill(join(root, 'outer/other'), 2)
      },
    })
    const start = rescan(scene.root)
    renameSync(join(scene.root, 'outer/inner'), join(scene.root, 'between'))
    rmSync(join(scene.root, 'outer'), { recursive: true })
    renameSync(join(scene.root, 'between'), join(scene.root, 'outer'))
    expect(await faultsOf(scene, start)).toEqual([])
  })

  it('reports the entries of a replaced directory', async () => {
    const scene = await openScene({
      ...options,
      prepare(root) {
        fill(join(root, 'old'), 3)
        fill(join(root, 'new'), 2)
      },
    })
    const start = rescan(scene.root)
    rmSync(join(scene.root, 'old'), { recursive: true })
    renameSync(join(scene.root, 'new'), join(scene.root, 'old'))
    expect(await faultsOf(scene, start)).toEqual([])
  })

  it('reports a rename over a file as one move', async () => {
    const scene = await openScene({
      ...options,
      prepare(root) {
        writeFileSync(join(root, 'target'), 'old')
        writeFileSync(join(root, 'source'), 'new one')
      },
    })
    renameSync(join(scene.root, 'source'), join(scene.root, 'target'))
    await scene.watcher.flush()
    expect(await toldBy(scene)).toEqual(['moved source → target'])
  })

  it('detects a change with the same length and a reset mtime', async () => {
    const scene = await openScene({
      ...options,
      prepare: (root) => writeFileSync(join(root, 'file'), 'aaaa'),
    })
    const file = join(scene.root, 'file')
    const { atime, mtime } = statSync(file)
    for (const text of ['bbbb', 'cccc']) {
      writeFileSync(file, text)
      utimesSync(file, atime, mtime)
      await scene.watcher.flush()
    }
    expect(await toldBy(scene)).toEqual(['changed file', 'changed file'])
  })

  it('reports a change of a hard-linked file under every name', async () => {
    const scene = await openScene({
      ...options,
      prepare(root) {
        writeFileSync(join(root, 'first'), 'text')
        mkdirSync(join(root, 'sub'))
        linkSync(join(root, 'first'), join(root, 'sub/second'))
      },
    })
    const start = rescan(scene.root)
    appendFileSync(join(scene.root, 'sub/second'), ' and more')
    await scene.watcher.flush()
    expect((await toldBy(scene)).toSorted()).toEqual(['changed first', 'changed sub/second'])
    linkSync(join(scene.root, 'first'), join(scene.root, 'third'))
    await scene.watcher.flush()
    appendFileSync(join(scene.root, 'third'), '!')
    rmSync(join(scene.root, 'third'))
    expect(await faultsOf(scene, start)).toEqual([])
  })

  it('reports no change of the file when a hard link is added or removed', async () => {
    const scene = await openScene({
      ...options,
      prepare: (root) => writeFileSync(join(root, 'first'), 'text'),
    })
    linkSync(join(scene.root, 'first'), join(scene.root, 'second'))
    await scene.watcher.flush()
    rmSync(join(scene.root, 'first'))
    await scene.watcher.flush()
    expect(await toldBy(scene)).toEqual(['created second', 'deleted first'])
  })

  it('reports links, FIFOs and empty directories, and does not follow links', async () => {
    const scene = await openScene(options)
    symlinkSync('/etc', join(scene.root, 'to-etc'))
    symlinkSync('nowhere', join(scene.root, 'to-nowhere'))
    execFileSync('mkfifo', [join(scene.root, 'fifo')])
    mkdirSync(join(scene.root, 'empty'))
    await scene.watcher.flush()
    const events = (await scene.events()).filter(({ type }) => type === 'file.created')
    expect(Object.fromEntries(events.map(({ data }) => [data.path, data.kind]))).toEqual({
      'to-etc': 'symlink',
      'to-nowhere': 'symlink',
      fifo: 'other',
      empty: 'directory',
    })
    rmSync(join(scene.root, 'to-nowhere'))
    symlinkSync('elsewhere', join(scene.root, 'to-nowhere'))
    lutimesSync(join(scene.root, 'to-etc'), 1, 1)
    await scene.watcher.flush()
    expect((await toldBy(scene)).slice(4).toSorted()).toEqual(['changed to-etc', 'changed to-nowhere'])
  })

  it('reports names that are not UTF-8 exactly', async () => {
    const scene = await openScene(options)
    const names = ['new\nline', 'tab\t', ' ', '日本語', 'raw\udcff\udcfe', '\ufffd', 'e\u0301', '\u00e9']
    for (const name of names) writeFileSync(toBytes(`${scene.root}/${name}`), name)
    await scene.watcher.flush()
    expect(await faultsOf(scene, new Map())).toEqual([])
    renameSync(toBytes(`${scene.root}/raw\udcff\udcfe`), toBytes(`${scene.root}/raw\udcfd`))
    expect(await faultsOf(scene, new Map())).toEqual([])
    const moved = (await scene.events()).find(({ type }) => type === 'file.moved')
    expect(moved?.data).toMatchObject({
      path: 'raw\ufffd',
      pathBase64: Buffer.from(toBytes('raw\udcfd')).toString('base64'),
      previousPathBase64: Buffer.from(toBytes('raw\udcff\udcfe')).toString('base64'),
    })
  })

  it('skips ignored names and reports moves into and out of them', async () => {
    const scene = await openScene({
      ...options,
      ignore: ['.git', 'node_modules', '*.log', '/build', 'src/gen'],
      prepare: (root) => fill(join(root, 'src'), 1),
    })
    const at = (...names: string[]) => join(scene.root, ...names)
    writeFileSync(at('.git'), 'gitdir: elsewhere')
    fill(at('src/node_modules/deep'), 3)
    fill(at('build/deep'), 3)
    fill(at('src/gen'), 3)
    writeFileSync(at('src/x.log'), 'x')
    await scene.watcher.flush()
    expect(await toldBy(scene)).toEqual([])
    fill(at('src/build'), 1)
    await scene.watcher.flush()
    expect(await toldBy(scene)).toEqual(['created src/build', 'created src/build/file-0'])
    renameSync(at('src/file-0'), at('src/x.log'))
    renameSync(at('src/node_modules/deep'), at('deep'))
    await scene.watcher.flush()
    expect((await toldBy(scene)).slice(2).toSorted()).toEqual([
      'created deep',
      'created deep/file-0',
      'created deep/file-1',
      'created deep/file-2',
      'deleted src/file-0',
    ])
  })
})

describe('the two halves of a path pattern', () => {
  it.each(modes)(
    'matches path patterns against the new path after a directory moved, $mode',
    async (options) => {
      const scene = await openScene({
        ...options,
        ignore: ['src/gen'],
        prepare(root) {
          fill(join(root, 'src/gen'), 2)
          fill(join(root, 'lib/gen'), 1)
        },
      })
      renameSync(join(scene.root, 'src'), join(scene.root, 'old'))
      await scene.watcher.flush()
      renameSync(join(scene.root, 'lib'), join(scene.root, 'src'))
      await scene.watcher.flush()
      expect((await toldBy(scene)).toSorted()).toEqual([
        'created old/gen',
        'created old/gen/file-0',
        'created old/gen/file-1',
        'deleted lib/gen',
        'deleted lib/gen/file-0',
        'moved lib → src',
        'moved src → old',
      ])
    },
  )
})
