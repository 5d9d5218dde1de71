import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { TimeSlice } from '@vitrine/archives'
import { expect, it } from 'vitest'
import type { Change } from '../../src/watching/change.ts'
import type { OpenDirectory } from '../../src/watching/disk.ts'
import { openTreeScene, type TreeScene } from './tree-scene.ts'

/** Opens a workspace whose directories are read through `change`. */
async function openChangedScene(
  change: (root: string, real: OpenDirectory) => Partial<OpenDirectory>,
  prepare?: (root: string) => void,
): Promise<TreeScene> {
  let root = ''
  return openTreeScene({
    prepare(path) {
      root = path
      prepare?.(path)
    },
    around: (_path, real) => ({ ...real, ...change(root, real) }),
  })
}

it('records a write between the check of a file and its reading once, with the size of the content', async () => {
  let overwrite = false
  const scene = await openChangedScene((root, real) => ({
    read(name, maxBytes) {
      if (overwrite) writeFileSync(join(root, 'file'), 'second', { flag: 'r+' })
      overwrite = false
      return real.read(name, maxBytes)
    },
  }))
  writeFileSync(join(scene.root, 'file'), 'one')
  await scene.watcher.flush()
  overwrite = true
  writeFileSync(join(scene.root, 'file'), 'two')
  await scene.watcher.flush()
  await scene.watcher.flush()
  const [created, changed, ...others] = (await scene.events()).map(({ data }) => data)
  expect(others).toEqual([])
  expect(created).toMatchObject({ size: 3, after: expect.any(String) })
  expect(changed).toMatchObject({ size: 6, before: created?.after, after: expect.any(String) })
  expect(changed?.after).not.toBe(created?.after)
})

it('records a move between the listing of a directory and the check of its entries as a move', async () => {
  let move = false
  const scene = await openChangedScene(
    (root, real) => ({
      names() {
        const names = real.names()
        if (move) renameSync(join(root, 'file'), join(root, 'moved'))
        move = false
        return names
      },
    }),
    (root) => writeFileSync(join(root, 'file'), 'content'),
  )
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

it('stores the content of a file that was moved while it was being read', async () => {
  const scene = await openChangedScene((root, real) => ({
    read(name, maxBytes) {
      // Like a program that writes a temporary file and then renames it.
      if (name === 'draft') renameSync(join(root, 'draft'), join(root, 'file'))
      return real.read(name, maxBytes)
    },
  }))
  writeFileSync(join(scene.root, 'draft'), 'content')
  await scene.watcher.flush()
  // The file was moved during the first check.
  await scene.watcher.flush()
  expect(await scene.emitted()).toEqual(['created draft', 'moved draft → file'])
  const [created, moved] = await scene.events()
  expect(created?.data).toMatchObject({ afterOmitted: 'unreadable' })
  expect(moved?.data.after).toMatch(/^sha256:/)
})

it('enters a directory that replaced another one and was away for a moment', async () => {
  let isTakenAway = false
  const scene = await openChangedScene(
    (root, real) => ({
      stat(name) {
        const now = real.stat(name)
        if (isTakenAway && name === 'place') renameSync(join(root, 'place'), join(root, '..', 'other'))
        isTakenAway &&= name !== 'place'
        return now
      },
    }),
    (root) => {
      mkdirSync(join(root, 'place'))
      mkdirSync(join(root, '..', 'other'))
      writeFileSync(join(root, '..', 'other', 'file'), 'content')
    },
  )
  const [place, other] = [join(scene.root, 'place'), join(scene.root, '..', 'other')]
  const changes: Change[] = []
  const check = () =>
    scene.tree.check(
      new Map([[scene.tree.root, null]]),
      (change) => void changes.push(change),
      new TimeSlice(),
    )
  renameSync(other, place)
  isTakenAway = true
  await check()
  expect(existsSync(place)).toBe(false)
  renameSync(other, place)
  await check()
  expect(changes).toContainEqual(expect.objectContaining({ type: 'created', path: 'place/file' }))
})
