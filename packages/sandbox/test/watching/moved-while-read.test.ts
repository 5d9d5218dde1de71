import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openTreeScene } from './tree-scene.ts'

it('stores the content of a file that was moved while it was being read', async () => {
  let root = ''
  const scene = await openTreeScene({
    prepare: (path) => {
      root = path
    },
    around: (_path, real) => ({
      ...real,
      read(name, maxBytes) {
        // Like a program that writes a temporary file and then renames it.
        if (name === 'draft') renameSync(join(root, 'draft'), join(root, 'file'))
        return real.read(name, maxBytes)
      },
    }),
  })
  writeFileSync(join(scene.root, 'draft'), 'content')
  await scene.watcher.flush()
  // The file was moved during the first check.
  await scene.watcher.flush()
  expect(await scene.emitted()).toEqual(['created draft', 'moved draft → file'])
  const [created, moved] = await scene.events()
  expect(created?.data).toMatchObject({ afterOmitted: 'unreadable' })
  expect(moved?.data.after).toMatch(/^sha256:/)
})
