import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import * as runtime from '../src/index.ts'

it('exports these values and no others', () => {
  expect(Object.keys(runtime).sort()).toEqual([
    'SandboxRunAbortError',
    'SandboxRunError',
    'defineSandbox',
    'inProcessSandboxClient',
    'inlineSandboxClient',
    'openSandboxRun',
    'watchWorkspace',
  ])
})

it('has an index that is a list of exports and the check of Node', async () => {
  const text = await readFile(new URL('../src/index.ts', import.meta.url), 'utf8')
  const rest = text
    .replace(/\/\*\*.*?\*\//gs, '')
    .replace(/export (type )?\{[^}]*\} from '(\.\/[\w./-]+\.ts|@vitrine\/\w+)'\n/g, '')
  expect(rest.trim()).toBe("export {} from '@vitrine/protocol/require-node'")
})
