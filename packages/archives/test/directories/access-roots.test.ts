import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Grant } from '@vitrine/protocol'
import { describe, expect, it, onTestFinished } from 'vitest'
import { AccessRoots, checkPath } from '../../src/directories/access-roots.ts'
import { folder } from '../fixtures/folder.ts'
import { openBelow } from '../fixtures/open-descriptors.ts'

interface Scene {
  readonly base: string
  readonly root: string
  readonly home: string
  open(...grants: Grant[]): AccessRoots
}

function scene(): Scene {
  const base = folder()
  const [root, home] = [join(base, 'root'), join(base, 'home')]
  for (const path of [join(root, 'in/deep'), home, join(base, 'other')]) mkdirSync(path, { recursive: true })
  const open = (...grants: Grant[]) => {
    const places = AccessRoots.open({ root, home, grants, onDisk: (path) => path })
    onTestFinished(() => places.close())
    return places
  }
  return { base, root, home, open }
}

const refused = { code: 'argument_invalid' }

describe('a grant', () => {
  it.each(['', 'relative', '~other/x', './x', 'C:\\x'])(
    'refuses a grant that is neither absolute nor below HOME: %j',
    (path) => {
      expect(() => scene().open({ path })).toThrow(expect.objectContaining(refused))
    },
  )

  it.each(['/', '//', '/.', '/x/..', '/proc/self/root', '/proc/self/root/'])(
    'refuses a grant of the root directory: %s',
    (path) => {
      expect(() => scene().open({ path })).toThrow(expect.objectContaining(refused))
    },
  )

  it('refuses a grant whose link resolves to the root directory', () => {
    const { base, open } = scene()
    symlinkSync('/', join(base, 'all'))
    expect(() => open({ path: join(base, 'all') })).toThrow(expect.objectContaining(refused))
    expect(() => open({ path: join(base, 'other/../all/.') })).toThrow(expect.objectContaining(refused))
  })

  it('refuses a grant that does not exist or is not a directory', () => {
    const { base, open } = scene()
    writeFileSync(join(base, 'file'), '')
    for (const name of ['file', 'missing', 'file/x'])
      expect(() => open({ path: join(base, name) }), name).toThrow(expect.objectContaining(refused))
  })

  it('refuses a grant that goes through a link made in the sandbox', () => {
    const { base, root, home, open } = scene()
    symlinkSync(join(base, 'other'), join(home, 'link'))
    symlinkSync(join(base, 'other'), join(root, 'link'))
    symlinkSync('in', join(root, 'honest'))
    for (const path of ['~/link', join(root, 'link'), join(root, 'honest'), join(root, 'honest/deep')])
      expect(() => open({ path }), path).toThrow(expect.objectContaining(refused))
  })

  it('refuses a grant that resolves into the workspace', () => {
    const { base, root, open } = scene()
    symlinkSync(join(root, 'in'), join(base, 'alias'))
    expect(() => open({ path: join(base, 'alias') })).toThrow(expect.objectContaining(refused))
  })

  it('creates a granted directory in HOME', () => {
    const { home, open } = scene()
    expect(open({ path: '~/a/b', writable: true }).of(join(home, 'a/b/c'))).toMatchObject({ writable: true })
  })

  it('a refused grant leaves no descriptor open', () => {
    const { base, open } = scene()
    for (const path of [join(base, 'missing'), '/', join(base, 'other/../missing')])
      expect(() => open({ path: join(base, 'other') }, { path })).toThrow()
    expect(openBelow(base)).toEqual([])
  })
})

describe('the place of a path', () => {
  it('finds the nearest root of a path', () => {
    const { root, base, open } = scene()
    const places = open(
      { path: join(root, 'in') },
      { path: join(root, 'in/deep'), writable: true },
      { path: join(base, 'other') },
    )
    for (const [path, writable] of [
      [root, true],
      [join(root, 'x'), true],
      [join(root, 'inner'), true],
      [join(root, 'in'), false],
      [join(root, 'in/x'), false],
      [join(root, 'in/deep'), true],
      [join(root, 'in/deeper'), false],
      [join(base, 'other/x'), false],
    ] as const)
      expect(places.of(path).writable, path).toBe(writable)
    for (const path of [base, join(base, 'others'), `${root}x`, '/'])
      expect(() => places.of(path), path).toThrow(expect.objectContaining({ code: 'path_outside' }))
    expect(
      [root, join(root, 'in'), join(root, 'in/deep'), join(root, 'x')].map((path) =>
        places.hasReadOnlyBelow(path),
      ),
    ).toEqual([true, false, false, false])
  })

  it('prefers a grant over the workspace at the same path', () => {
    const { root, open } = scene()
    expect(open({ path: root }).of(join(root, 'x')).writable).toBe(false)
  })

  it.each([
    ['x', 'x'],
    ['./x', './x'],
    ['ROOT', ''],
    ['ROOT/', ''],
    ['ROOT/x/../y', 'x/../y'],
    ['//ROOT/./x', 'x'],
    ['/nowhere/../ROOT/x', 'x'],
    ['ROOT/é', 'é'],
    ['ROOT/\udcc3\udca9', 'é'],
  ])('finds the root for %s and resolves ".." by text only above it', (path, names) => {
    const { root, open } = scene()
    const found = open().locate(path.replace('/ROOT', root).replace('ROOT', root))
    expect([found.root.path, found.names.join('/')]).toEqual([root, names])
  })

  it('shows a path relative to the workspace if it is inside', () => {
    const { root, open } = scene()
    const places = open()
    expect([root, join(root, 'a/b'), `${root}x`].map((path) => places.displayPath(path))).toEqual([
      '.',
      'a/b',
      `${root}x`,
    ])
  })
})

describe('a path as it is given', () => {
  it.each([undefined, null, 3, {}, '', 'a\0', 'C:\\a', 'c:/a', '\\\\a\\b', '\ud800'])(
    'refuses the path %j',
    (path) => {
      expect(() => checkPath('path', path)).toThrow(expect.objectContaining(refused))
    },
  )

  it('accepts a path up to its limit in bytes', () => {
    checkPath('path', 'x'.repeat(4_095))
    checkPath('path', '\udcff'.repeat(4_095))
    for (const path of ['x'.repeat(4_096), 'é'.repeat(2_048), '\udcff'.repeat(4_096)])
      expect(() => checkPath('path', path)).toThrow(expect.objectContaining({ code: 'path_too_long' }))
  })
})
