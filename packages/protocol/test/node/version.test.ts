import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { nodeVersionProblem } from '../../src/node/version.ts'

it.each(['v24.0.0', 'v24.21.0', 'v26.1.0', 'v100.0.0'])('%s is new enough', (version) => {
  expect(nodeVersionProblem(version)).toBeUndefined()
})

it.each(['v22.22.3', 'v20.20.2', 'v8.17.0', ''])('%s is too old', (version) => {
  expect(nodeVersionProblem(version)).toBe(
    `Vitrine needs Node 24 or newer; this is ${version}. Install it from https://nodejs.org.`,
  )
})

const root = fileURLToPath(new URL('../../../..', import.meta.url))
const scoped = (names: readonly string[]) => names.map((name) => `@vitrine/${name}`)
const forNode = [
  ...scoped(['archives', 'egress', 'journal', 'sandbox', 'agents', 'host', 'runtime', 'server', 'cli']),
  ...['@vitrine/client/node', 'vitrine'],
]
const forBrowsers = [...scoped(['protocol', 'views', 'command-policy', 'client']), 'vitrine/client']

/** The result of importing each package in a process that believes to be an older Node. */
async function importOnOlderNode(names: readonly string[]): Promise<Record<string, string>> {
  const script = `
    Object.defineProperty(process, 'version', { value: 'v20.20.2' })
    const results = {}
    for (const name of ${JSON.stringify(names)})
      results[name] = await import(name).then(() => 'imported', ({ message }) => message)
    console.log(JSON.stringify(results))`
  const args = ['--conditions=source', '--input-type=module', '-e', script]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root })
  return JSON.parse(stdout)
}

it('an import of a package for Node is refused on an older one; a package for browsers does not look', async () => {
  const refused = 'Vitrine needs Node 24 or newer; this is v20.20.2. Install it from https://nodejs.org.'
  expect(await importOnOlderNode([...forBrowsers, ...forNode])).toEqual({
    ...Object.fromEntries(forBrowsers.map((name) => [name, 'imported'])),
    ...Object.fromEntries(forNode.map((name) => [name, refused])),
  })
})
