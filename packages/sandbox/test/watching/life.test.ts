import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { countNotice } from '../../src/watching/overflow.ts'
import { openScene, type SceneOptions, toldBy } from './fixture.ts'
import { differences, Fold, rescan } from './fold.ts'
import { openTreeScene } from './tree-scene.ts'

const modes: SceneOptions[] = [{ mode: 'native' }, { mode: 'poll', intervalMs: 1 }]

describe.each(modes)('a watcher that begins, $mode', (options) => {
  it('emits no events for existing files', async () => {
    for (let round = 0; round < 5; round += 1) {
      const scene = await openScene({ ...options, prepare: (root) => fill(root, 300) })
      await sleep(10)
      await scene.watcher.flush()
      expect(await toldBy(scene)).toEqual([])
      expect(scene.watcher.entries).toBe(310)
    }
  })

  it('emits no created event for files that change during the initial scan', async () => {
    const before = new Set<string>()
    const scene = await openScene({
      ...options,
      prepare(root) {
        fill(root, 3_000)
        for (const path of rescan(root).keys()) before.add(path)
        const change = `const fs = require('node:fs')
          for (let i = 0; i < 3000; i += 1) fs.appendFileSync('d' + (i % 10) + '/file-' + i, 'more')`
        spawn(process.execPath, ['-e', change], { cwd: root, stdio: 'inherit' })
      },
    })
    // Wait until no more events arrive.
    for (let told = -1; told !== (await toldBy(scene)).length; await sleep(300)) {
      await scene.watcher.flush()
      told = (await toldBy(scene)).length
    }
    const created = (await scene.events()).filter(({ type }) => type === 'file.created')
    expect(created.map(({ data }) => String(data.path)).filter((path) => before.has(path))).toEqual([])
    expect(scene.watcher.entries).toBe(before.size)
    expect((await scene.events())[0]?.type).toBe('watch.ready')
  })
})

describe.each(modes)('a watcher that ends, $mode', (options) => {
  it('emits every change made before close', async () => {
    const scene = await openScene(options)
    for (let index = 0; index < 50; index += 1) writeFileSync(join(scene.root, `file-${index}`), '')
    await scene.watcher.close()
    expect(await toldBy(scene)).toHaveLength(50)
  })

  it('emits nothing after close', async () => {
    const scene = await openScene({ ...options, prepare: (root) => fill(root, 300) })
    const churning = spawn('sh', ['-c', 'for i in $(seq 300); do echo x > new-$i; rm -f d1/file-$i; done'], {
      cwd: scene.root,
      stdio: 'ignore',
    })
    const ended = once(churning, 'exit')
    await scene.watcher.close()
    const told = await toldBy(scene)
    rmSync(join(scene.root, 'd0'), { recursive: true })
    await ended
    await sleep(100)
    expect(await toldBy(scene)).toEqual(told)
  })

  it('can be closed twice and during a flush', async () => {
    const scene = await openScene(options)
    // Empty, because a check between the creation of a file and its first byte would see two changes.
    writeFileSync(join(scene.root, 'file'), '')
    const flushed = scene.watcher.flush()
    await Promise.all([flushed, scene.watcher.close()])
    await scene.watcher.close().catch(() => undefined)
    expect(await toldBy(scene)).toEqual(['created file'])
  })
})

describe.each(modes)('a flush, $mode', (options) => {
  it('a flush covers earlier changes of other processes, also with concurrent flushes', async () => {
    const scene = await openScene(options)
    for (let round = 0; round < 20; round += 1) {
      execFileSync('sh', ['-c', `mkdir -p d-${round}/e && : > d-${round}/e/file`], { cwd: scene.root })
      const flushes = Array.from({ length: 5 }, () => scene.watcher.flush())
      await flushes[round % 5]
      expect(await toldBy(scene)).toHaveLength((round + 1) * 3)
      await Promise.all(flushes)
    }
  })

  it('a flush without changes emits nothing', async () => {
    const scene = await openScene(options)
    for (let round = 0; round < 10; round += 1) await scene.watcher.flush()
    expect(await toldBy(scene)).toEqual([])
  })
})

describe('a flush', () => {
  it('a flush whose marker arrives with an overflow checks the whole tree', async () => {
    const scene = await openTreeScene({ prepare: (root) => mkdirSync(join(root, 'deaf')), around: deaf })
    writeFileSync(join(scene.root, 'deaf/lost'), 'x')
    const flushed = scene.watcher.flush()
    // As many notices as a full queue holds arrive before the marker.
    for (let count = 0; count < 20_000; count += 1) countNotice()
    await flushed
    expect(await scene.emitted()).toEqual(['created deaf/lost'])
  })
})

describe.each(modes)('files that are written to without a pause, $mode', (options) => {
  it('reports files that are written continuously without a flush', async () => {
    const scene = await openScene(options)
    const write = `const fs = require('node:fs')
      const files = Array.from({ length: 50 }, (_, index) => fs.openSync('log-' + index, 'a'))
      for (;;) for (const fd of files) fs.writeSync(fd, 'x')`
    const child = spawn(process.execPath, ['-e', write], { cwd: scene.root, stdio: 'inherit' })
    onTestFinished(() => void child.kill('SIGKILL'))
    // A check may happen between the first writes: wait until all files are reported, and one of them again.
    await expect
      .poll(
        async () => {
          const told = await toldBy(scene)
          const created = told.filter((line) => line.startsWith('created')).length
          return { created, changed: told.length > created }
        },
        { timeout: 15_000 },
      )
      .toEqual({ created: 50, changed: true })
  })
})

describe('a change that is made while another is told', () => {
  it('emits a change made during an append after the first one', async () => {
    const scene = await openScene({ mode: 'native' })
    const start = rescan(scene.root)
    for (let round = 0; round < 30; round += 1) {
      mkdirSync(join(scene.root, `d-${round}`))
      await new Promise(setImmediate)
      appendFileSync(join(scene.root, `d-${round}/file`), 'x')
      await sleep(round % 4)
      renameSync(join(scene.root, `d-${round}`), join(scene.root, `e-${round}`))
      appendFileSync(join(scene.root, `e-${round}/file`), 'x')
    }
    await scene.watcher.flush()
    const fold = new Fold(start)
    for (const event of await scene.events()) if (event.type.startsWith('file.')) fold.add(event)
    fold.end()
    expect([...fold.faults, ...differences(fold.tree, rescan(scene.root))]).toEqual([])
  })
})

function fill(root: string, count: number): void {
  for (let index = 0; index < 10; index += 1) mkdirSync(join(root, `d${index}`))
  for (let index = 0; index < count; index += 1)
    writeFileSync(join(root, `d${index % 10}`, `file-${index}`), '')
}

/** A directory whose kernel notice was lost. */
function deaf(path: string, real: Parameters<NonNullable<Parameters<typeof openTreeScene>[0]['around']>>[1]) {
  return path === 'deaf' ? { ...real, watch: () => () => undefined } : real
}
