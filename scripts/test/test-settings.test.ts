import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { scaledTests } from '../test-settings.ts'
import { root } from '../tools.ts'

it('the soak runs the tests that take their size from the scale module, and no others', () => {
  const files = scaledTests()
  expect(files).toContain('packages/sandbox/test/files/race.test.ts')
  expect(files).not.toContain('scripts/test/test-settings.test.ts')
  expect(files).not.toContain('packages/archives/test/directories/access-roots.test.ts')
})

it('finds no hook that a shared module registers: files share modules, so only the first file would get it', () => {
  const modules = globSync('{packages/*/test,conformance,bench/test,docs/test,examples/test}/**/*.ts', {
    cwd: root,
    exclude: (name) => name === 'node_modules',
  }).filter((path) => !path.endsWith('.test.ts'))
  expect(modules.length).toBeGreaterThan(100)
  const withHooks = modules.filter((path) =>
    /^(before|after)(Each|All)\(/m.test(readFileSync(join(root, path), 'utf8')),
  )
  expect(withHooks).toEqual([])
})
