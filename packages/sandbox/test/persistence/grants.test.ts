import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folder } from '../../../archives/test/fixtures/folder.ts'
import { tarOf } from '../../../archives/test/fixtures/tar-bytes.ts'
import { treeOf } from '../../../archives/test/fixtures/tree.ts'
import { scene } from './fixtures/workspace.ts'

async function guarded(isolation: 'none' | 'bubblewrap') {
  const root = join(folder(), 'root')
  mkdirSync(join(root, 'a/sub'), { recursive: true })
  writeFileSync(join(root, 'a/sub/kept'), 'kept')
  return scene({ root, isolation, grants: [{ path: join(root, 'a/sub'), writable: false }] })
}

describe.each(['none', 'bubblewrap'] as const)('a read-only part of the workspace: %s', (isolation) => {
  it('rejects uploading or extracting into it or above it', async () => {
    const { sandbox, root } = await guarded(isolation)
    const before = treeOf(root)
    const readOnly = { code: 'file_read_only' }
    const inside = tarOf({ name: 'kept', content: 'evil' })
    const above = tarOf({ name: 'sub/kept', content: 'evil' })
    for (const [path, archive] of [
      ['a/sub', inside],
      ['a/sub/new', inside],
      ['a', above],
      ['.', tarOf({ name: 'a/sub/kept', content: 'evil' })],
    ] as const) {
      await expect(sandbox.files.upload(path, archive), path).rejects.toMatchObject(readOnly)
      await expect(sandbox.files.extract(`${path}/x.tar`, archive), path).rejects.toMatchObject(readOnly)
    }
    expect(treeOf(root)).toEqual(before)
    await sandbox.files.upload('b', inside)
  })

  it('a hydrate does not change a read-only part of the workspace', async () => {
    const { sandbox, root } = await guarded(isolation)
    const before = treeOf(join(root, 'a/sub'))
    for (const archive of [
      tarOf({ name: 'new', content: 'x' }),
      tarOf({ name: 'a/sub/kept', content: 'evil' }),
      tarOf({ name: 'a', content: 'evil' }),
    ])
      await sandbox.hydrate(archive).catch(() => undefined)
    expect(treeOf(join(root, 'a/sub'))).toEqual(before)
  })
})
