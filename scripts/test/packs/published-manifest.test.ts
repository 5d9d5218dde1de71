import { expect, it } from 'vitest'
import { publishedManifest } from '../../packs/published-manifest.ts'

it('leaves out sources and dependencies of development, and keeps the rest', () => {
  const published = publishedManifest({
    name: '@scope/one',
    version: '1.0.0',
    sideEffects: ['./src/a.ts', './dist/a.js'],
    exports: { '.': { source: './src/index.ts', types: './dist/index.d.ts', default: './dist/index.js' } },
    imports: { '#a': { node: { source: './src/a.ts', default: './dist/a.js' }, default: './dist/b.js' } },
    dependencies: { source: '1.0.0' },
    devDependencies: { typescript: '7.0.2' },
  })
  expect(published).toEqual({
    name: '@scope/one',
    version: '1.0.0',
    sideEffects: ['./dist/a.js'],
    exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' } },
    imports: { '#a': { node: { default: './dist/a.js' }, default: './dist/b.js' } },
    dependencies: { source: '1.0.0' },
  })
})

it('keeps sideEffects: false', () => {
  expect(publishedManifest({ name: 'one', sideEffects: false, exports: {} })).toEqual({
    name: 'one',
    sideEffects: false,
    exports: {},
  })
})
