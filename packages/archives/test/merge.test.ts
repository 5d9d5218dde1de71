import { lstatSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { merge } from '../src/merge.ts'
import { openDescriptors, testDirectories } from './fixtures/test-directory.ts'
import { treeOf } from './fixtures/tree.ts'

const newTestDirectory = testDirectories()
const refused = { code: 'archive_refused' }

/** Creates two trees with two scripts. */
function both(staged: string, target: string) {
  const here = newTestDirectory()
  here.sh(`mkdir staged target; (cd staged; ${staged}); (cd target; ${target})`)
  return { ...here, staged: here.handle('staged'), target: here.handle('target') }
}

const withoutTimes = (lines: readonly string[]) => lines.map((line) => line.replace(/ \d{10,} /, ' '))

describe('a merged tree', () => {
  it('adds new entries, replaces files and links, and keeps directories with their modes', async () => {
    const { at, staged, target } = both(
      `mkdir -p kept/new/deep kept/deeper fresh; echo new > kept/file; echo x > kept/new/deep/x
       echo f > fresh/f; ln -s kept link; echo was-link > replaced; chmod 700 kept; echo y > kept/deeper/y`,
      `mkdir -p kept/deeper other; chmod 751 kept; echo old > kept/file; echo o > kept/own
       ln -s elsewhere replaced; ln -s nowhere link; echo z > kept/deeper/z`,
    )
    const placed: string[] = []
    const before = openDescriptors()
    const inode = lstatSync(at('target/kept')).ino
    const merged = await merge(staged, target, { onMerged: (path, how) => placed.push(`${how} ${path}`) })
    expect(openDescriptors()).toBe(before)
    expect(merged).toEqual({ added: 3, replaced: 3, kept: 2 })
    expect(placed.toSorted()).toEqual([
      'new fresh',
      'new kept/deeper/y',
      'new kept/new',
      'replaced kept/file',
      'replaced link',
      'replaced replaced',
    ])
    expect(lstatSync(at('target/kept'))).toMatchObject({ ino: inode, mode: 0o040751 })
    expect(readFileSync(at('target/kept/file'), 'utf8')).toBe('new\n')
    expect(readFileSync(at('target/replaced'), 'utf8')).toBe('was-link\n')
    expect(treeOf(at('target')).map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
      '"." d',
      '"fresh" d',
      '"fresh/f" f',
      '"kept" d',
      '"kept/deeper" d',
      '"kept/deeper/y" f',
      '"kept/deeper/z" f',
      '"kept/file" f',
      '"kept/new" d',
      '"kept/new/deep" d',
      '"kept/new/deep/x" f',
      '"kept/own" f',
      '"link" l',
      '"other" d',
      '"replaced" f',
    ])
  })

  it.each([
    ['a directory over a link', 'mkdir -p d; echo x > d/x', 'mkdir real; ln -s real d'],
    ['a directory over a link that leads out', 'mkdir -p d; echo x > d/x', 'ln -s /tmp d'],
    ['a directory over a dangling link', 'mkdir d', 'ln -s missing d'],
    ['a directory over a file', 'mkdir -p d; echo x > d/x', 'echo x > d'],
    ['a directory over a FIFO', 'mkdir d', 'mkfifo d'],
    ['a file over a directory', 'echo x > d', 'mkdir d'],
    ['a link over a directory', 'ln -s x d', 'mkdir d'],
    ['something deep', 'mkdir -p a/b; echo x > a/b/c', 'mkdir -p a/b/c'],
  ])('refuses a merge of %s and changes nothing', async (_, staged, target) => {
    const given = both(`${staged}; echo new > aaa; echo new > zzz`, `${target}; echo old > zzz`)
    const before = treeOf(given.at('target'))
    const open = openDescriptors()
    await expect(merge(given.staged, given.target)).rejects.toMatchObject(refused)
    expect(treeOf(given.at('target'))).toEqual(before)
    expect(openDescriptors()).toBe(open)
  })

  it('moves directories that are not writable', async () => {
    const { at, staged, target, sh } = both('mkdir -p a/forbidding; chmod 555 a/forbidding', 'mkdir a')
    await merge(staged, target)
    expect(lstatSync(at('target/a/forbidding')).mode & 0o777).toBe(0o555)
    sh('chmod 700 target/a/forbidding')
  })

  it('can be cancelled before anything is moved', async () => {
    const { at, staged, target } = both('echo x > a', 'echo y > a')
    const before = withoutTimes(treeOf(at('target')))
    await expect(merge(staged, target, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'cancelled',
    })
    expect(withoutTimes(treeOf(at('target')))).toEqual(before)
  })

  it('merges deep trees', async () => {
    const deep = `python3 -c "
import os
for level in range(200): os.mkdir('d'); os.chdir('d'); open('NAME', 'w').close()
"`
    const { staged, target, sh } = both(deep.replace('NAME', 'theirs'), deep.replace('NAME', 'ours'))
    const before = openDescriptors()
    expect(await merge(staged, target)).toMatchObject({ added: 200, kept: 200 })
    expect(openDescriptors()).toBe(before)
    expect(Number(sh('find target -type f | wc -l'))).toBe(400)
  })
})
