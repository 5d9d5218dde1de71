import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Grant } from '@vitrine/protocol'
import { describe, expect, it, onTestFinished } from 'vitest'
import { AccessRoots } from '../../src/directories/access-roots.ts'
import { Handle } from '../../src/directories/handle.ts'
import { walk } from '../../src/directories/walk.ts'
import { folder } from '../fixtures/folder.ts'
import { openBelow } from '../fixtures/open-descriptors.ts'

function scene(...grants: Grant[]) {
  const base = folder()
  const root = join(base, 'root')
  mkdirSync(join(root, 'a/b/c'), { recursive: true })
  mkdirSync(join(base, 'other'))
  writeFileSync(join(root, 'a/file'), 'x')
  const places = AccessRoots.open({
    root,
    home: join(base, 'home'),
    grants: grants.map((grant) => ({ ...grant, path: grant.path.replace('BASE', base) })),
    onDisk: (path) => path,
  })
  onTestFinished(() => places.close())
  const lead = (path: string, options: Parameters<typeof walk>[2] = {}) =>
    walk(places, path, options, ({ path: found, entry, missing, name }) => ({
      path: places.displayPath(found),
      kind: entry?.kind,
      missing,
      name,
    }))
  return { base, root, places, lead }
}

describe('a walk', () => {
  it.each([
    ['.', '.', 'directory'],
    ['a//b/./c/', 'a/b/c', 'directory'],
    ['a/b/../file', 'a/file', 'file'],
    ['a/b/c/../../../a', 'a', 'directory'],
  ])('resolves %s to %s', (path, found, kind) => {
    expect(scene().lead(path)).toMatchObject({ path: found, kind, missing: [] })
  })

  it('lists the names that do not exist', () => {
    const { lead } = scene()
    expect(lead('a/x/y/z')).toEqual({ path: 'a/x/y/z', kind: undefined, missing: ['x', 'y', 'z'], name: 'x' })
  })

  it('goes from one access root into another, and nowhere else', () => {
    const { root, lead } = scene({ path: 'BASE/other' })
    symlinkSync('../../other', join(root, 'a/link'))
    symlinkSync('../../other/../root/a/file', join(root, 'a/back'))
    symlinkSync('../..', join(root, 'a/up'))
    expect(lead('a/link')).toMatchObject({ path: expect.stringMatching(/\/other$/), kind: 'directory' })
    expect(lead('a/back')).toMatchObject({ path: 'a/file' })
    expect(lead('a/up/root/a/file')).toMatchObject({ path: 'a/file' })
    expect(lead('../root/a/file')).toMatchObject({ path: 'a/file' })
    for (const path of ['a/up', '..', '../..', 'a/up/else', '../roots', 'a/link/../..'])
      expect(() => lead(path), path).toThrow(expect.objectContaining({ code: 'path_outside' }))
  })

  it('stays in the opened directory when that is moved away', () => {
    const { root, base, places } = scene()
    walk(places, 'a/b/c', {}, ({ entry }) => {
      writeFileSync(join(root, 'a/b/c/mark'), '')
      expect(entry?.names()).toEqual(['mark'])
    })
    expect(openBelow(join(base, 'root/'))).toEqual([])
  })

  it('leaves no descriptor open, however it ends', () => {
    const { root, lead, places } = scene()
    symlinkSync('a/b', join(root, 'link'))
    symlinkSync('loop', join(root, 'loop'))
    symlinkSync('/etc', join(root, 'out'))
    const tries = [
      'a/b/c',
      'a/file',
      'link/c',
      'a/b/x/y',
      'loop',
      'out',
      'a/file/x',
      'x'.repeat(256),
      '..',
      'link/../../..',
    ]
    for (const path of tries) {
      try {
        lead(path)
      } catch {
        // The outcome does not matter here.
      }
    }
    expect(() =>
      walk(places, 'a/b/c', {}, () => {
        throw new Error('in use')
      }),
    ).toThrow()
    expect(openBelow(`${root}/`)).toEqual([])
    expect(openBelow(root)).toEqual([''])
  })

  it('refuses a closed handle even if its descriptor number was reused', () => {
    const { root } = scene()
    const handle = Handle.directory(root)
    handle.close()
    handle.close()
    const other = Handle.directory('/etc')
    onTestFinished(() => other.close())
    for (const use of [
      () => handle.entry('hostname'),
      () => handle.names(),
      () => handle.self,
      () => handle.at('x'),
    ])
      expect(use).toThrow(expect.objectContaining({ code: 'sandbox_not_running' }))
  })

  it('sees that the owner of an access root changed after it was opened', () => {
    const { root, places } = scene()
    const who = { name: 'somebody', uid: 54_321, gids: [54_321], all: false, owns: true }
    const enter = () => walk(places, 'a', { identity: who }, ({ path }) => path)
    expect(enter()).toBe(join(root, 'a'))
    chmodSync(root, 0o700)
    expect(enter).toThrow(expect.objectContaining({ code: 'file_denied' }))
  })
})
