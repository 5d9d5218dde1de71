import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { dataFolder, open } from './fixtures/data.ts'

const isolation = 'none'

it('a stored sandbox is prepared with bytes, and is found again after a restart', async () => {
  const data = dataFolder()
  const bytes = new Uint8Array([0, 255, 1])
  const first = await open(data)
  await first.create({
    id: 'binary',
    local: { isolation },
    workspace: { files: { 'a.bin': bytes, 'b.bin': { content: bytes, mode: 0o600 } }, env: { A: 'kept' } },
  })
  await first.close()
  const second = await open(data)
  const sandbox = await second.attach('binary')
  for (const name of ['a.bin', 'b.bin'])
    expect(await new Response(await sandbox.files.read(name)).bytes()).toEqual(bytes)
  expect((await sandbox.exec('echo $A')).stdout).toBe('kept\n')
  await second.close()
  const third = await open(data)
  await third.destroy('binary')
  expect(await third.list({ state: 'destroyed' })).toMatchObject([{ id: 'binary', state: 'destroyed' }])
})

it('a sandbox has no record when its creation failed, and no file contents in its record', async () => {
  const data = dataFolder()
  const host = await open(data)
  const workspace = { files: { 'a.txt': 'pomegranate' } }
  const failing = { ...workspace, setup: ['exit 7'] }
  await expect(host.create({ id: 'one', local: { isolation }, workspace: failing })).rejects.toMatchObject({
    code: 'setup_failed',
  })
  expect(await host.list()).toEqual([])
  await host.create({ id: 'one', local: { isolation }, workspace })
  expect(readFileSync(join(data, 'records', 'one.json'), 'utf8')).not.toContain('pomegranate')
})

it('a stored sandbox is destroyed without being started', async () => {
  const data = dataFolder()
  const first = await open(data)
  const { root } = await first.create({ id: 'kept', local: { isolation } })
  await first.close()
  const second = await open(data)
  const both = [second.destroy('kept'), second.destroy('kept')]
  await expect(second.attach('kept')).rejects.toMatchObject({ code: 'sandbox_destroyed' })
  await Promise.all(both)
  expect(existsSync(root)).toBe(false)
  const journal = await second.store.journal('kept')
  const { events } = await journal.read({ types: ['sandbox.ready', 'sandbox.destroyed'] })
  expect(events.map(({ type }) => type)).toEqual(['sandbox.ready', 'sandbox.destroyed'])
})

it.each(['while it runs', 'without being started'])(
  'keeps HOME when another sandbox of the same workspace is destroyed %s',
  async (how) => {
    const data = dataFolder()
    const root = join(dataFolder(), 'project')
    mkdirSync(root)
    const first = await open(data)
    await first.create({ id: 'other', local: { root, isolation } })
    const kept = await first.create({ id: 'kept', local: { root, isolation } })
    await kept.exec('echo mine > "$HOME/file"')
    const host = how === 'while it runs' ? first : await first.close().then(() => open(data))
    await host.destroy('other')
    const found = await host.find('kept')
    expect(await found.exec('cat "$HOME/file"')).toMatchObject({ stdout: 'mine\n' })
  },
)

it('a stored sandbox is destroyed although its workspace is missing', async () => {
  const data = dataFolder()
  const place = dataFolder()
  const root = join(place, 'project')
  mkdirSync(root)
  const first = await open(data)
  await first.create({ id: 'project', local: { root, isolation } })
  await first.close()
  rmSync(root, { recursive: true })
  const second = await open(data)
  await second.destroy('project')
  expect(await second.list({ state: 'destroyed' })).toMatchObject([{ id: 'project', state: 'destroyed' }])
  expect(existsSync(join(place, '.vitrine', 'project'))).toBe(false)
  expect(existsSync(join(data, 'sandboxes', 'project'))).toBe(false)
})
