import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { memoryStore, openStore } from '@vitrine/journal'
import { expect, it, onTestFinished } from 'vitest'
import { createSandbox, local } from '../../src/index.ts'
import { folder, openScene, say } from './prepared.ts'

const isolation = 'none'

it('is for an empty workspace: another one is refused and stays as it is', async () => {
  const scene = await openScene()
  const root = folder()
  writeFileSync(join(root, 'mine'), 'x')
  await expect(scene.prepare({ files: { a: 'x' } }, { isolation, root })).rejects.toMatchObject({
    code: 'workspace_not_empty',
    message: expect.stringContaining(root),
  })
  expect(await scene.events()).toEqual([])
  const sandbox = await createSandbox({ provider: local({ data: scene.data, root, isolation }) })
  onTestFinished(() => sandbox.close())
  expect(await say(sandbox, 'ls')).toBe('mine')
})

it('is applied once: the same id again gets its variables and nothing else', async () => {
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

it('refuses a sandbox that has lived without one', async () => {
  const scene = await openScene()
  const { data, store, id } = scene
  const before = await createSandbox({ provider: local({ data, isolation }), store, id })
  await before.exec('touch mine')
  await before.close()
  await expect(scene.prepare({ files: { a: 'x' } }, { isolation })).rejects.toMatchObject({
    code: 'workspace_not_empty',
  })
})

it('prepares a sandbox again that was destroyed', async () => {
  const scene = await openScene()
  const first = await scene.prepare({ setup: ['touch made'] }, { isolation })
  await first.lifecycle.destroy()
  await first.close()
  const again = await scene.prepare({ setup: ['touch made'] }, { isolation })
  expect(await say(again, 'ls')).toBe('made')
})

it('a workspace that another store has filled is not fresh', async () => {
  const scene = await openScene()
  await (await scene.prepare({ files: { a: 'x' } }, { isolation })).close()
  const store = await openStore(memoryStore())
  onTestFinished(() => store.close())
  await expect(scene.prepare({ files: { a: 'x' } }, { isolation, store })).rejects.toMatchObject({
    code: 'workspace_not_empty',
  })
})
