import { describe, expect, it } from 'vitest'
import { folderCycles, forbiddenArrows, importsOf, readRepo } from '../arrows.ts'

describe('the table of packages', () => {
  it('holds for every package', () => {
    const { files, dependencies } = readRepo()
    expect(files.length).toBeGreaterThan(50)
    expect(forbiddenArrows(files, dependencies)).toEqual([])
  })

  it('refuses an arrow that points the wrong way, in the code or in the manifest', () => {
    const file = { package: 'protocol', path: 'packages/protocol/src/a.ts', imports: ['@vitrine/journal'] }
    expect(forbiddenArrows([file], {})).toEqual([
      'packages/protocol/src/a.ts: imports @vitrine/journal, but protocol may use only nothing',
    ])
    expect(forbiddenArrows([], { views: ['journal'] })).toEqual([
      'packages/views/package.json: depends on the package journal',
    ])
  })

  it('refuses Node in packages that must run in browsers, and a package that is not in the table', () => {
    const file = { package: 'views', path: 'packages/views/src/a.ts', imports: ['node:fs'] }
    expect(forbiddenArrows([file], { attic: [] })).toEqual([
      'packages/attic: not in the table of scripts/arrows.ts',
      'packages/views/src/a.ts: imports node:fs, but runs in browsers',
    ])
  })

  it('refuses a package for Node in browsers, but not in the part that is for Node', () => {
    const imports = ['@vitrine/archives']
    const inBrowsers = { package: 'client', path: 'packages/client/src/files/a.ts', imports }
    const inNode = { package: 'client', path: 'packages/client/src/node/a.ts', imports }
    expect(forbiddenArrows([inBrowsers, inNode], {})).toEqual([
      'packages/client/src/files/a.ts: imports @vitrine/archives, but runs in browsers',
    ])
  })

  it('refuses the package vitrine in those that it uses, in the code or in the manifest', () => {
    const imports = ['vitrine', 'vitrine/client', 'vitrines']
    const file = { package: 'command-policy', path: 'packages/command-policy/src/a.ts', imports }
    expect(forbiddenArrows([file], { host: ['vitrine'] })).toEqual([
      'packages/host/package.json: depends on the package vitrine',
      'packages/command-policy/src/a.ts: imports vitrine, but command-policy may use only protocol',
      'packages/command-policy/src/a.ts: imports vitrine/client, but command-policy may use only protocol',
    ])
  })

  it('sees every way to import', () => {
    const source = `import a from 'one'
import type { B } from "two"
export { c } from 'three'
export * from 'four'
import 'five'
const d = await import('six')
import {
  e,
} from 'seven'`
    expect(importsOf(source)).toEqual(['one', 'two', 'three', 'four', 'five', 'six', 'seven'])
  })
})

describe('folderCycles', () => {
  const file = (path: string, ...imports: string[]) => ({
    package: 'a-b',
    path: `packages/a-b/src/${path}`,
    imports,
  })

  it('names the folders of a cycle, over any number of them, and files directly in src', () => {
    expect(
      folderCycles([
        file('one/x.ts', '../two/y.ts'),
        file('two/y.ts', '../three/z.ts'),
        file('three/z.ts', '../one/deep/w.ts'),
        file('top.ts', './four/v.ts'),
        file('four/v.ts', '../top.ts'),
      ]),
    ).toEqual([
      'packages/a-b/src: import cycle four/ -> top.ts -> four/',
      'packages/a-b/src: import cycle one/ -> two/ -> three/ -> one/',
    ])
  })

  it('takes imports within a folder, one-way imports, the list of exports and other packages', () => {
    expect(
      folderCycles([
        file('index.ts', './one/x.ts'),
        file('one/x.ts', './y.ts', '@vitrine/c', '../two/z.ts'),
        file('one/y.ts', './x.ts'),
        file('two/z.ts', 'node:fs'),
      ]),
    ).toEqual([])
  })
})

it('refuses an import of a package with a hyphen in its name', () => {
  const source = {
    package: 'protocol',
    path: 'packages/protocol/src/a.ts',
    imports: ['@vitrine/command-policy'],
  }
  expect(forbiddenArrows([source], {})).toEqual([
    'packages/protocol/src/a.ts: imports @vitrine/command-policy, but protocol may use only nothing',
  ])
})
