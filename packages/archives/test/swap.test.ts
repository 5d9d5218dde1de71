import { lstatSync, readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { replaceContents } from '../src/replace-contents.ts'
import { openDescriptors, testDirectories } from './fixtures/test-directory.ts'
import { roundTimes, treeOf } from './fixtures/tree.ts'

const newTestDirectory = testDirectories()

function three(staged: string, root: string) {
  const here = newTestDirectory()
  here.sh(`mkdir staged root trash; (cd staged; ${staged}); (cd root; ${root})`)
  roundTimes(here.at('root'))
  const { handle } = here
  return { ...here, staged: handle('staged'), root: handle('root'), trash: handle('trash') }
}

describe('a swapped directory', () => {
  it('replaces the content, keeps the directory, and moves the old content to the trash', async () => {
    const { at, staged, root, trash } = three(
      'mkdir d; echo new > d/f; ln -s x l; chmod 555 d',
      'mkdir -p old/deep d; echo old > f; ln -s y l; echo mine > mount',
    )
    const inode = lstatSync(at('root')).ino
    const before = openDescriptors()
    await replaceContents(staged, root, trash, {
      keep: (name) => name === 'mount',
      attributes: { mode: 0o1750, mtime: 1_000_000_000.25 },
    })
    expect(openDescriptors()).toBe(before)
    expect(readdirSync(at('root')).sort()).toEqual(['d', 'l', 'mount'])
    expect(readdirSync(at('trash')).sort()).toEqual(['d', 'f', 'l', 'old'])
    expect(readdirSync(at('staged'))).toEqual([])
    expect(lstatSync(at('root'))).toMatchObject({ ino: inode, mode: 0o041750, mtimeMs: 1_000_000_000_250 })
    expect(lstatSync(at('root/d')).mode & 0o777).toBe(0o555)
  })

  it('two concurrent replacements never mix their contents', async () => {
    const { at, handle, sh, staged, root, trash } = three('touch a1 a2 a3 a4 a5', 'touch old1 old2')
    sh('mkdir other bin; touch other/b1 other/b2 other/b3 other/b4 other/b5')
    // Every name takes longer than a time slice, so both replacements yield after each step.
    const keep = () => {
      for (const until = performance.now() + 6; performance.now() < until; );
      return false
    }
    await Promise.all([
      replaceContents(staged, root, trash, { keep }),
      replaceContents(handle('other'), root, handle('bin'), { keep }),
    ])
    expect(readdirSync(at('root')).sort()).toEqual(['b1', 'b2', 'b3', 'b4', 'b5'])
    expect(readdirSync(at('bin')).sort()).toEqual(['a1', 'a2', 'a3', 'a4', 'a5'])
  })

  it('restores the old content after a failure midway', async () => {
    const { at, staged, root, trash } = three(
      'for i in $(seq 50); do echo new > $i; done; mkdir clash',
      'for i in $(seq 50); do echo old > $i; done; mkdir kept; touch -d 2001-02-03 .; chmod 711 .',
    )
    const before = { root: treeOf(at('root')), staged: treeOf(at('staged')).slice(1) }
    let asked = 0
    const failing = (name: string) => {
      asked += 1
      if (asked > 80) throw new Error(`no more at ${name}`)
      return false
    }
    const open = openDescriptors()
    await expect(replaceContents(staged, root, trash, { keep: failing })).rejects.toMatchObject({
      message: expect.stringContaining('no more'),
    })
    expect(openDescriptors()).toBe(open)
    expect(treeOf(at('root'))).toEqual(before.root)
    expect(treeOf(at('staged')).slice(1)).toEqual(before.staged)
    expect(readdirSync(at('trash'))).toEqual([])
  })

  it('restores the old content when a rename fails', async () => {
    const { at, staged, root, trash, sh } = three('mkdir a; echo x > b', 'echo old > a; echo old > b')
    // A directory cannot replace a file.
    sh('mkdir trash/a')
    const before = treeOf(at('root'))
    await expect(replaceContents(staged, root, trash)).rejects.toMatchObject({ code: 'file_is_directory' })
    expect(treeOf(at('root'))).toEqual(before)
    expect(readdirSync(at('staged')).sort()).toEqual(['a', 'b'])
  })

  it('replaces content by nothing, and nothing by content', async () => {
    const emptied = three('true', 'echo old > a')
    await replaceContents(emptied.staged, emptied.root, emptied.trash)
    expect(readdirSync(emptied.at('root'))).toEqual([])
    const filled = three('echo new > a', 'true')
    await replaceContents(filled.staged, filled.root, filled.trash)
    expect(readdirSync(filled.at('root'))).toEqual(['a'])
  })
})
