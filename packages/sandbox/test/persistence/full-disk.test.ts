import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { tarOf } from '../../../archives/test/fixtures/tar-bytes.ts'
import { isRoot, mounted } from '../files/fixtures/mounted.ts'
import { scene } from './fixtures/workspace.ts'

if (!isRoot) console.warn('SKIPPED: no file systems are mounted: it takes root.')

describe.skipIf(!isRoot)('a disk that is full', () => {
  it.each(['none', 'bubblewrap'] as const)('leaves the workspace unchanged: %s', async (isolation) => {
    const root = mounted('2m')
    const { sandbox, tree, staged } = await scene({ root, isolation, watch: false })
    await sandbox.exec('mkdir -p d/e; echo kept > d/e/f; head -c 600000 /dev/urandom > large')
    const before = { tree: tree(), large: readFileSync(join(root, 'large')) }
    const archive = tarOf(
      { name: 'small', content: 'x' },
      { name: 'd/huge', content: Buffer.alloc(3_000_000, 'x') },
      { name: 'last', content: 'x' },
    )
    const full = { code: 'disk_full' }
    await expect(sandbox.hydrate(archive)).rejects.toMatchObject(full)
    await expect(sandbox.files.upload('.', archive)).rejects.toMatchObject(full)
    await expect(sandbox.files.upload('new/er', archive)).rejects.toMatchObject(full)
    await expect(sandbox.files.extract('a.tar', archive)).rejects.toMatchObject(full)
    expect({ tree: tree(), large: readFileSync(join(root, 'large')) }).toEqual(before)
    expect(staged()).toEqual([])
    await sandbox.hydrate(tarOf({ name: 'f', content: Buffer.alloc(1_000_000, 'y') }))
    expect(tree()).toEqual(['f'])
    await sandbox.lifecycle.shutdown()
    expect(readdirSync(root)).toEqual(['f'])
  })

  it('a workspace on its own file system is persisted and hydrated without the staging folder', async () => {
    const { sandbox } = await scene({ root: mounted('8m') })
    const { sandbox: another, tree } = await scene({ root: mounted('8m') })
    await sandbox.files.write('a/b', 'x', { parents: true })
    await another.files.write('old', 'x')
    await another.hydrate(await sandbox.persist())
    expect(tree()).toEqual(['a', 'a/b'])
    await another.files.write('goes-on', 'x')
    await another.hydrate(tarOf({ name: '.vitrine-staging/evil', content: 'x' }, { name: 'b' }))
    await another.files.write('c', 'x')
    expect(tree()).toEqual(['b', 'c'])
  })
})
