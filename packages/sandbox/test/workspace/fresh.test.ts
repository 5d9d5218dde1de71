import { spawn } from 'node:child_process'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { memoryStore, openStore, sqliteStore } from '@vitrine/journal'
import { isGap, type JournalEvent } from '@vitrine/protocol'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createLocalSandbox, local } from '../../src/index.ts'
import { folder, openScene, prepare, processesWith, say } from './prepared.ts'

const isolation = 'none'

it('refuses a workspace that is not empty and leaves it unchanged', async () => {
  const scene = await openScene()
  const root = folder()
  writeFileSync(join(root, 'mine'), 'x')
  await expect(scene.prepare({ files: { a: 'x' } }, { isolation, root })).rejects.toMatchObject({
    code: 'workspace_not_empty',
    message: expect.stringContaining(root),
  })
  expect(await scene.events()).toEqual([])
  const sandbox = await createLocalSandbox({ provider: local({ data: scene.data, root, isolation }) })
  onTestFinished(() => sandbox.close())
  expect(await say(sandbox, 'ls')).toBe('mine')
})

it('applies a manifest once; a later start only gets its variables', async () => {
  const scene = await openScene()
  const workspace = { files: { a: 'first' }, env: { A: '1' }, setup: ['echo run >> runs'] }
  const first = await scene.prepare(workspace, { isolation })
  await first.exec('echo changed > a')
  await first.close()
  const again = await scene.prepare({ ...workspace, env: { A: '2' } }, { isolation })
  expect(await say(again, 'cat a runs; echo $A')).toBe('changed\nrun\n2')
  await again.lifecycle.stop()
  await again.lifecycle.start()
  expect(await say(again, 'cat a runs; echo $A')).toBe('changed\nrun\n2')
  const applied = (await scene.events()).filter(
    ({ type, data }) => type === 'operation.started' && data.op === 'apply_manifest',
  )
  expect(applied).toHaveLength(1)
})

it('refuses a manifest for a sandbox that was started without one', async () => {
  const scene = await openScene()
  const { data, store, id } = scene
  const before = await createLocalSandbox({ provider: local({ data, isolation }), store, id })
  await before.exec('touch mine')
  await before.close()
  await expect(scene.prepare({ files: { a: 'x' } }, { isolation })).rejects.toMatchObject({
    code: 'workspace_not_empty',
  })
})

it('prepares a destroyed sandbox again', async () => {
  const scene = await openScene()
  const first = await scene.prepare({ setup: ['touch made'] }, { isolation })
  await first.lifecycle.destroy()
  await first.close()
  const again = await scene.prepare({ setup: ['touch made'] }, { isolation })
  expect(await say(again, 'ls')).toBe('made')
})

it('refuses a workspace that was prepared with another store', async () => {
  const scene = await openScene()
  await (await scene.prepare({ files: { a: 'x' } }, { isolation })).close()
  const store = await openStore(memoryStore())
  onTestFinished(() => store.close())
  await expect(scene.prepare({ files: { a: 'x' } }, { isolation, store })).rejects.toMatchObject({
    code: 'workspace_not_empty',
  })
})

it('does not apply a manifest twice concurrently', async () => {
  const scene = await openScene()
  const first = scene.prepare({ setup: ['touch begun; until [ -e go ]; do sleep 0.01; done'] }, { isolation })
  const root = join(scene.data, 'sandboxes', scene.id, 'workspace')
  await expect.poll(() => existsSync(join(root, 'begun')), { timeout: 20_000 }).toBe(true)
  await expect(scene.prepare({ files: { a: 'x' } }, { isolation })).rejects.toMatchObject({
    code: 'workspace_not_empty',
  })
  writeFileSync(join(root, 'go'), '')
  expect(await say(await first, 'ls')).toBe('begun\ngo')
})

describe('a host that dies halfway', () => {
  /** Waits until the second step runs, then kills the host. */
  async function dieHalfway(data: string, root?: string) {
    const path = join(folder(), 'journal')
    const word = `4${Math.floor(Math.random() * 1e9)}.5`
    const script = fileURLToPath(new URL('host-that-dies.ts', import.meta.url))
    const node = ['--conditions=source', '--disable-warning=ExperimentalWarning', script]
    const host = spawn(process.execPath, [...node, JSON.stringify({ data, path, word, root })], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const gone = new Promise((resolve) => host.once('exit', resolve))
    const workspace = root ?? join(data, 'sandboxes', 'dying', 'workspace')
    await expect.poll(() => existsSync(join(workspace, 'half')), { timeout: 30_000 }).toBe(true)
    host.kill('SIGKILL')
    await gone
    await expect.poll(() => processesWith(word), { timeout: 30_000 }).toEqual([])
    const store = await openStore(sqliteStore({ path }))
    onTestFinished(() => store.close())
    return store
  }

  it('prepares a managed workspace from scratch after the host died', async () => {
    const data = folder()
    const store = await dieHalfway(data)
    const workspace = { files: { whole: 'x' }, setup: ['ls > seen'] }
    const sandbox = await prepare(workspace, { isolation, data, store, id: 'dying' })
    expect(await say(sandbox, 'cat seen')).toBe('seen\nwhole')
    const { events } = await sandbox.journal.read({ limit: 1_000 })
    const applied = events.filter(
      (event): event is JournalEvent => !isGap(event) && event.data.op === 'apply_manifest',
    )
    const ends = applied.filter((event) => event.type === 'operation.finished')
    expect(ends.map(({ data: end }) => end.outcome)).toEqual(['interrupted', 'ok'])
  })

  it('leaves a given workspace unchanged, because others may have put files there meanwhile', async () => {
    const data = folder()
    const root = folder()
    const store = await dieHalfway(data, root)
    const again = prepare({ files: { whole: 'x' } }, { isolation, data, root, store, id: 'dying' })
    await expect(again).rejects.toMatchObject({ code: 'workspace_not_empty' })
    expect(readdirSync(root)).toEqual(['half'])
  })
})
