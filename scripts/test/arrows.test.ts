import { describe, expect, it } from 'vitest'
import { forbiddenArrows, importsOf, readRepo } from '../arrows.ts'

describe('the house plan', () => {
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
      'packages/views/package.json: depends on @vitrine/journal',
    ])
  })

  it('refuses Node in what must run in browsers, and a package nobody drew', () => {
    const file = { package: 'views', path: 'packages/views/src/a.ts', imports: ['node:fs'] }
    expect(forbiddenArrows([file], { attic: [] })).toEqual([
      'packages/attic: not in the house plan of scripts/arrows.ts',
      'packages/views/src/a.ts: imports node:fs, but runs in browsers',
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
