import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createSandbox, local } from '../src/index.ts'
import { dataFolder } from './fixtures/data.ts'

it('closing removes HOME, and keeps a given workspace', async () => {
  const above = dataFolder()
  const root = join(above, 'project')
  mkdirSync(root)
  writeFileSync(join(root, 'kept'), 'x')
  const sandbox = await createSandbox({ provider: local({ root, isolation: 'none' }) })
  await sandbox.exec('touch "$HOME/file"')
  await sandbox.close()
  expect(readdirSync(join(above, '.vitrine'))).toEqual([])
  expect(readdirSync(root)).toEqual(['kept'])
})

it('closing keeps a given HOME', async () => {
  const above = dataFolder()
  const home = join(above, 'home')
  const sandbox = await createSandbox({
    provider: local({ root: join(above, 'project'), home, isolation: 'none' }),
  })
  await sandbox.exec('touch "$HOME/kept"')
  await sandbox.close()
  expect(readdirSync(home)).toContain('kept')
})

it('closing after a destroy is no error', async () => {
  const sandbox = await createSandbox({ provider: local({ isolation: 'none' }) })
  await sandbox.lifecycle.destroy()
  await sandbox.close()
})
