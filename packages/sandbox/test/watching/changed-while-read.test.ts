import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { TimeSlice } from '../../src/files/time-slice.ts'
import type { Change } from '../../src/watching/change.ts'
import { openTreeScene } from './tree-scene.ts'

it('records a write between the check of a file and its reading once, with the size of the content', async () => {
  let root = ''
  let overwrite = false
  const scene = await openTreeScene({
    prepare: (path) => {
      root = path
    },
    around: (_path, real) => ({
      ...real,
      read(name, maxBytes) {
        if (overwrite) writeFileSync(join(root, 'file'), 'second', { flag: 'r+' })
        overwrite = false
        return real.read(name, maxBytes)
      },
    }),
  })
  writeFileSync(join(root, 'file'), 'one')
  await scene.watcher.flush()
  overwrite = true
  writeFileSync(join(root, 'file'), 'two')
  await scene.watcher.flush()
  await scene.watcher.flush()
  const [created, changed, ...others] = (await scene.events()).map(({ data }) => data)
  expect(others).toEqual([])
  expect(created).toMatchObject({ size: 3, after: expect.any(String) })
  expect(changed).toMatchObject({ size: 6, before: created?.after, after: expect.any(String) })
  expect(changed?.after).not.toBe(created?.after)
})

it('records a move between the listing of a directory and the check of its entries as a move', async () => {
  let root = ''
  let move = false
  const scene = await openTreeScene({
    prepare: (path) => {
      root = path
      writeFileSync(join(path, 'file'), 'content')
    },
    around: (_path, real) => ({
      ...real,
      names() {
        const names = real.names()
        if (move) renameSync(join(root, 'file'), join(root, 'moved'))
        move = false
        return names
      },
    }),
  })
  move = true
  const changes: Change[] = []
  // One check without the kernel's notices, as when the tree is polled.
  await scene.tree.check(
    new Map([[scene.tree.root, null]]),
    (change) => void changes.push(change),
    new TimeSlice(),
  )
  expect(changes).toMatchObject([{ type: 'moved', path: 'moved', previousPath: 'file' }])
})
