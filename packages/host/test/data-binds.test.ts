import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { local } from '../src/index.ts'
import { dataFolder, open } from './fixtures/data.ts'

it('refuses to mount the keys, records and journals of the host into a sandbox', async () => {
  const data = dataFolder()
  const host = await open(data)
  mkdirSync(join(data, 'keys'), { recursive: true })
  symlinkSync(join(data, 'keys'), join(data, 'link'))
  // The full token of a daemon on this data directory.
  for (const name of ['token', 'daemon.json']) writeFileSync(join(data, name), '')
  const sources = [
    data,
    dirname(data),
    '/',
    ...['keys', 'store', 'records', 'sandboxes', 'link', 'token', 'daemon.json'].map((name) =>
      join(data, name),
    ),
  ]
  for (const source of sources)
    await expect(host.create({ local: { binds: [{ source, target: '/mnt' }] } })).rejects.toMatchObject({
      code: 'argument_invalid',
      message: expect.stringContaining(`binds.source: ${source} `),
    })
  expect(await host.list()).toEqual([])
})

it('refuses a default of the provider too, and allows other folders of the data directory', async () => {
  const data = dataFolder()
  mkdirSync(join(data, 'tools'))
  const host = await open(data, { providers: [local({ binds: [{ source: data, target: '/mnt' }] })] })
  await expect(host.create()).rejects.toMatchObject({ code: 'argument_invalid' })
  const binds = [{ source: join(data, 'tools'), target: '/mnt' }]
  await host.create({ id: 'allowed', local: { isolation: 'none', binds } })
})

it('refuses a HOME that is the data directory', async () => {
  const data = dataFolder()
  const host = await open(data)
  for (const home of [data, join(data, 'keys')])
    await expect(host.create({ local: { isolation: 'none', home } })).rejects.toMatchObject({
      code: 'argument_invalid',
      message: expect.stringContaining('home: '),
    })
})

it('refuses a bind whose source was swapped for a link to the keys before a start', async () => {
  const data = dataFolder()
  const outside = dataFolder()
  const [folder, link] = [join(outside, 'folder'), join(outside, 'link')]
  mkdirSync(folder, { mode: 0o755 })
  writeFileSync(join(folder, 'tool'), 'x', { mode: 0o644 })
  symlinkSync(folder, link)
  const host = await open(data)
  mkdirSync(join(data, 'keys'), { recursive: true })
  const binds = [
    { source: folder, target: '/mnt/folder' },
    { source: link, target: '/mnt/link' },
  ]
  const sandbox = await host.create({ id: 'swapped', local: { isolation: 'bubblewrap', binds } })
  const refused = { code: 'argument_invalid', message: expect.stringContaining('binds.source: ') }

  // Of a sandbox that this host has stopped.
  await sandbox.lifecycle.stop()
  renameSync(folder, join(outside, 'aside'))
  symlinkSync(join(data, 'keys'), folder)
  await expect(sandbox.lifecycle.start()).rejects.toMatchObject(refused)
  rmSync(folder)
  renameSync(join(outside, 'aside'), folder)
  await sandbox.lifecycle.start()
  expect((await sandbox.exec('cat /mnt/folder/tool /mnt/link/tool')).stdout).toBe('xx')
  await host.close()

  // Of a sandbox that the next host starts.
  rmSync(link)
  symlinkSync(join(data, 'keys'), link)
  const next = await open(data)
  await expect(next.attach('swapped')).rejects.toMatchObject(refused)
  rmSync(link)
  symlinkSync(folder, link)
  expect((await (await next.attach('swapped')).exec('cat /mnt/link/tool')).stdout).toBe('x')
})

it.each(['root', 'home'] as const)(
  'refuses a %s that was swapped for a link into the data directory before a start',
  async (option) => {
    const data = dataFolder()
    const folder = join(dataFolder(), 'folder')
    mkdirSync(folder)
    const host = await open(data)
    mkdirSync(join(data, 'keys'), { recursive: true })
    const sandbox = await host.create({ local: { isolation: 'none', watch: false, [option]: folder } })
    await sandbox.lifecycle.stop()
    rmSync(folder, { recursive: true })
    symlinkSync(join(data, 'keys'), folder)
    await expect(sandbox.lifecycle.start()).rejects.toMatchObject({
      code: 'argument_invalid',
      message: expect.stringContaining(`${option}: `),
    })
  },
)
