import { expect, it } from 'vitest'
import { contentComplaints } from '../../packs/content-complaints.ts'

const manifest = {
  name: 'one',
  exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' } },
  bin: { one: './dist/main.js' },
}
const complete = [
  ...['package.json', 'README.md', 'LICENSE'],
  ...['dist/index.d.ts', 'dist/index.js', 'dist/main.js'],
]

it('accepts a complete package', () => {
  expect(contentComplaints({ manifest, contents: complete })).toEqual([])
})

it.each(complete)('names %s if it is missing', (path) => {
  const contents = complete.filter((one) => one !== path)
  expect(contentComplaints({ manifest, contents })).toEqual([`one: the packed file lacks ${path}.`])
})

it.each(['src/index.ts', 'dist/test/one.js', 'native/src/main.c', 'dist/.tsbuildinfo', 'dist/a.ts'])(
  'refuses %s',
  (path) => {
    expect(contentComplaints({ manifest, contents: [...complete, path] })).toEqual([
      `one: the packed file must not contain ${path}.`,
    ])
  },
)
