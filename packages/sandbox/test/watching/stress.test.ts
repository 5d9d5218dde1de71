import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { scale } from '../../../../conformance/src/scale.ts'
import { openScene, type Scene, type SceneOptions, toldBy } from './fixture.ts'
import { differences, Fold, rescan } from './fold.ts'

const directories = scale.newDirectories
const modes: SceneOptions[] = [{ mode: 'native' }, { mode: 'poll', intervalMs: 50 }]

async function faultsOf(scene: Scene, start: ReturnType<typeof rescan>): Promise<string[]> {
  await scene.watcher.flush()
  const fold = new Fold(start)
  for (const event of await scene.events()) if (event.type.startsWith('file.')) fold.add(event)
  fold.end()
  return [...fold.faults, ...differences(fold.tree, rescan(scene.root))].slice(0, 20)
}

/** Random changes by another process, for a number of steps. */
const churn = `
  const fs = require('node:fs'), path = require('node:path')
  let seed = Number(process.argv[1])
  const next = (n) => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) % n
  const any = () => Array.from({ length: 1 + next(3) }, () => 'abcd'[next(4)]).join('/')
  for (let step = 0; step < 3000; step += 1) try {
    const [one, other] = [any(), any()]
    switch (next(7)) {
      case 0: fs.mkdirSync(path.dirname(one), { recursive: true }); fs.writeFileSync(one, String(step)); break
      case 1: fs.appendFileSync(one, 'more'); break
      case 2: fs.rmSync(one, { recursive: true }); break
      case 3: case 4: fs.renameSync(one, other); break
      case 5: fs.mkdirSync(one + '/x/y', { recursive: true }); fs.writeFileSync(one + '/x/y/z', 'z'); break
      case 6: fs.chmodSync(one, 0o600 | next(64)); break
    }
  } catch {}
`

describe.each(modes)('a watcher, $mode', (options) => {
  it.each([1, 2, 3])(
    'agrees with the disk after another process changed everything at once (%i)',
    async (seed) => {
      const scene = await openScene(options)
      const child = spawn(process.execPath, ['-e', churn, String(seed)], {
        cwd: scene.root,
        stdio: 'inherit',
      })
      const ended = once(child, 'exit')
      let over = false
      ended.then(() => {
        over = true
      })
      while (!over) {
        await scene.watcher.flush()
        await sleep(5)
      }
      expect(await faultsOf(scene, new Map())).toEqual([])
      expect((await scene.events()).filter(({ type }) => type === 'watch.degraded')).toEqual([])
    },
  )

  it('sees thousands of files in new directories', async () => {
    const scene = await openScene(options)
    execFileSync(
      'sh',
      [
        '-c',
        `for i in $(seq ${directories}); do mkdir -p a/$i/b/c; for j in $(seq 100); do echo $j > a/$i/b/c/$j; done; done`,
      ],
      { cwd: scene.root },
    )
    expect(await faultsOf(scene, new Map())).toEqual([])
    expect(await toldBy(scene)).toHaveLength(1 + directories * (3 + 100))
  })

  it('emits no false events for 200 files that appear and disappear', async () => {
    const scene = await openScene(options)
    for (let index = 0; index < 200; index += 1) {
      writeFileSync(join(scene.root, `file-${index}`), '')
      if (index % 10 === 0) await new Promise(setImmediate)
      rmSync(join(scene.root, `file-${index}`))
    }
    expect(await faultsOf(scene, new Map())).toEqual([])
  })

  it('emits nothing for 2,000 untouched files', async () => {
    const scene = await openScene({
      ...options,
      prepare(root) {
        for (let index = 0; index < 2_000; index += 1) {
          const folder = join(root, `フォルダ-${index % 20}`)
          mkdirSync(folder, { recursive: true })
          writeFileSync(join(folder, `ファイル名-éàü-${index}`), '')
        }
      },
    })
    await sleep(500)
    await scene.watcher.flush()
    expect(await toldBy(scene)).toEqual([])
  })

  it('never follows a link that replaces a directory', async () => {
    const scene = await openScene({
      ...options,
      prepare(root) {
        mkdirSync(join(root, 'd'))
        writeFileSync(join(root, 'd/hostname'), 'inside')
        writeFileSync(join(root, 'd/passwd'), 'inside')
        symlinkSync('/etc', join(root, 'l'))
      },
    })
    const swap = `
      const fs = require('node:fs')
      for (let i = 0; i < 4000; i += 1) {
        try { fs.renameSync('d', 'x'); fs.renameSync('l', 'd'); fs.renameSync('d', 'l'); fs.renameSync('x', 'd') } catch {}
        if (i % 5 === 0) fs.writeFileSync('d/passwd', 'inside' + i)
      }`
    const child = spawn(process.execPath, ['-e', swap], { cwd: scene.root, stdio: 'inherit' })
    const ended = once(child, 'exit')
    let over = false
    ended.then(() => {
      over = true
    })
    while (!over) {
      await scene.watcher.flush()
      await new Promise(setImmediate)
    }
    await scene.watcher.flush()
    for (const { data } of await scene.events()) {
      expect(String(data.path ?? '')).not.toMatch(/^d\/(?!hostname|passwd)/)
      if (typeof data.after !== 'string') continue
      const text = await new Response((await scene.store.getBlob(data.after)).stream).text()
      expect(text).toMatch(/^(inside\d*)?$/)
    }
  })
})

describe('the kernel’s queue', () => {
  it('no change is lost when the queue overflows while the event loop is blocked', async () => {
    const scene = await openScene({ mode: 'native' })
    mkdirSync(join(scene.root, 'early'))
    await scene.watcher.flush()
    const create = `const fs = require('node:fs')
      for (let i = 0; i < ${scale.overflow}; i += 1) fs.writeFileSync((i % 2 ? 'early/' : '') + 'file-' + i, '')
      fs.rmSync('early/file-1'); fs.renameSync('early', 'late')`
    execFileSync(process.execPath, ['-e', create], { cwd: scene.root })
    expect(await faultsOf(scene, new Map())).toEqual([])
    expect((await toldBy(scene)).filter((line) => line.startsWith('created'))).toHaveLength(scale.overflow)
  })

  it('a flush covers all changes even if the queue overflows repeatedly', async () => {
    const scene = await openScene({ mode: 'native' })
    const create = (from: number) =>
      execFileSync(
        process.execPath,
        [
          '-e',
          `for (let i = ${from}; i < ${from} + 9000; i += 1) require('fs').writeFileSync('file-' + i, '')`,
        ],
        { cwd: scene.root },
      )
    for (const from of [0, 9_000, 18_000].slice(0, scale.overflows)) {
      create(from)
      expect(await faultsOf(scene, new Map())).toEqual([])
    }
    renameSync(join(scene.root, 'file-0'), join(scene.root, 'renamed'))
    expect(await faultsOf(scene, new Map())).toEqual([])
  })
})
