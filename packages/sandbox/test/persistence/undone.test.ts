import { execFileSync } from 'node:child_process'
import { lstatSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { folder } from '../../../archives/test/fixtures/folder.ts'
import { tarOf } from '../../../archives/test/fixtures/tar-bytes.ts'
import { treeOf } from '../../../archives/test/fixtures/tree.ts'
import { scene } from './fixtures/workspace.ts'

/** Makes a file immutable, so that not even root can move it, if the file system supports that. */
function immovable(path: string): void {
  execFileSync('chattr', ['+i', path], { stdio: 'ignore' })
  onTestFinished(() => void execFileSync('chattr', ['-i', path], { stdio: 'ignore' }))
}

function canBeImmovable(): boolean {
  const path = join(folder(), 'probe')
  writeFileSync(path, '')
  try {
    execFileSync('chattr', ['+i', path], { stdio: 'ignore' })
    execFileSync('chattr', ['-i', path], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

describe('a hydrate that fails while entries are moved', () => {
  it.each(['aa', 'mm', 'zz'])('is undone, whichever entries were moved before: %s', async (name) => {
    if (!canBeImmovable()) {
      console.warn('SKIPPED: no file can be made immovable here.')
      return
    }
    const { sandbox, root, staged } = await scene({ watch: false })
    await sandbox.exec(
      `mkdir -p b/deep locked; echo kept > b/deep/f; ln b/deep/f y; ln -s b n; chmod 500 locked; echo kept > ${name}; chmod 751 .; touch -d @1577934245.123456 . b y n`,
    )
    immovable(join(root, name))
    const before = { tree: treeOf(root), inode: lstatSync(root).ino }
    const archive = tarOf(
      { name: './', type: '5', mode: 0o700 },
      { name: 'b', content: 'x' },
      { name: 'new' },
    )
    await expect(sandbox.hydrate(archive)).rejects.toMatchObject({ code: 'file_denied' })
    expect({ tree: treeOf(root), inode: lstatSync(root).ino }).toEqual(before)
    expect(staged()).toEqual([])
    expect(readFileSync(join(root, name), 'utf8')).toBe('kept\n')
  })

  it('an upload over a file that cannot be replaced writes nothing', async () => {
    if (!canBeImmovable()) {
      console.warn('SKIPPED: no file can be made immovable here.')
      return
    }
    const { sandbox, root, staged } = await scene({ watch: false })
    await sandbox.exec('echo kept > m')
    immovable(join(root, 'm'))
    const before = treeOf(root)
    const archive = tarOf(
      { name: 'a', content: 'x' },
      { name: 'm', content: 'x' },
      { name: 'z', content: 'x' },
    )
    await expect(sandbox.files.upload('.', archive)).rejects.toMatchObject({ code: 'file_denied' })
    expect(staged()).toEqual([])
    expect(treeOf(root).map((line) => line.split(' ')[0])).toEqual(before.map((line) => line.split(' ')[0]))
  })
})
