import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
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
