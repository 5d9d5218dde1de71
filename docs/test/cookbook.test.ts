import { readdirSync, readFileSync } from 'node:fs'
import { errorRegistry } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'

const folder = new URL('../cookbook/', import.meta.url)
const read = (name: string) => readFileSync(new URL(name, folder), 'utf8')
const pages = readdirSync(folder).filter((name) => name !== 'README.md')

it('the index of the cookbook names every page with its title', () => {
  const links = [...read('README.md').matchAll(/^- \[(.+)\]\((\w[\w-]*\.md)\)$/gm)]
  expect(links.map(([, title, name]) => [name, title]).toSorted()).toEqual(
    pages.map((name) => [name, /^# (.+)$/m.exec(read(name))?.[1]]).toSorted(),
  )
})

describe.each(pages)('%s', (name) => {
  const lines = read(name).split('\n')

  it('has an example in its first ten lines, and at most 100 lines', () => {
    const example = lines.findIndex((line) => line.startsWith('```'))
    expect(example).toBeGreaterThan(0)
    expect(example).toBeLessThan(10)
    expect(lines.length).toBeLessThanOrEqual(100)
  })
})

it('the page on troubleshooting names only error codes that exist', () => {
  const codes = [...read('troubleshooting.md').matchAll(/^\| `([a-z]+(?:_[a-z]+)+)`/gm)].map(
    ([, code]) => code!,
  )
  expect(codes.length).toBeGreaterThan(20)
  expect(codes.filter((code) => !Object.hasOwn(errorRegistry, code))).toEqual([])
})
