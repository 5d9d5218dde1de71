import { readdir, readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import * as client from '../src/index.ts'
import * as node from '../src/node/index.ts'

const source = new URL('../src/', import.meta.url)

it('exports these values and no others', () => {
  expect(Object.keys(client)).toEqual(['connect'])
  expect(Object.keys(node)).toEqual(['start'])
})

it.each([
  ['index.ts', ''],
  ['node/index.ts', "export {} from '@vitrine/protocol/require-node'"],
])(
  'has in %s a list of exports and nothing else but the check of Node where it is for Node',
  async (name, check) => {
    const text = await readFile(new URL(name, source), 'utf8')
    const rest = text
      .replace(/\/\*\*.*?\*\//gs, '')
      .replace(/export (type )?\{[^}]*\} from '\.\/[\w./-]+\.ts'\n/g, '')
    expect(rest.trim()).toBe(check)
  },
)

it('imports nothing of Node outside of src/node, and no schemas', async () => {
  const names = await readdir(source, { recursive: true })
  const files = names.filter((name) => name.endsWith('.ts') && !name.startsWith('node/'))
  expect(files.length).toBeGreaterThan(10)
  for (const name of files) {
    const text = await readFile(new URL(name, source), 'utf8')
    expect(text, name).not.toMatch(/from 'node:|from '@vitrine\/protocol\/http'|\bBuffer\b/)
  }
})
