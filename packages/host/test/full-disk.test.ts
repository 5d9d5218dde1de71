import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { smallDisk } from '../../journal/test/fixtures/small-disk.ts'
import { open } from './fixtures/data.ts'

const full = { code: 'store_failing', message: expect.stringMatching(/The disk of .* is full/) }

it('a host on a full disk says that it is full, and opens once there is space', async (context) => {
  const disk = smallDisk()
  if ('unavailable' in disk) return context.skip(disk.unavailable)
  const data = join(disk.path, 'data')
  disk.fill()
  await expect(open(data)).rejects.toMatchObject(full)
  disk.free()
  await (await open(data)).close()
  disk.fill()
  await expect(open(data)).rejects.toMatchObject(full)
  disk.free()
  await open(data)
})

it('a sandbox is not created where its record cannot be stored', async (context) => {
  const disk = smallDisk()
  if ('unavailable' in disk) return context.skip(disk.unavailable)
  mkdirSync(join(disk.path, 'data'))
  const host = await open(join(disk.path, 'data'))
  disk.fill()
  await expect(host.create({ id: 'one', local: { isolation: 'none' } })).rejects.toMatchObject({
    code: 'store_failing',
  })
  expect(await host.list()).toEqual([])
  disk.free()
})
