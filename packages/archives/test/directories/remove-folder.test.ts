import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { removeFolder } from '../../src/index.ts'

it('removes a large folder in several turns of the event loop, and nothing behind its links', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'remove-folder-'))
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }))
  const [folder, kept] = [join(parent, 'folder'), join(parent, 'kept')]
  mkdirSync(folder)
  writeFileSync(kept, 'kept')
  symlinkSync(kept, join(folder, 'link'))
  for (let index = 0; index < 5_000; index += 1) writeFileSync(join(folder, `${index}`), '')
  let turns = 0
  const count = setInterval(() => {
    turns += 1
  })
  await removeFolder(folder)
  clearInterval(count)
  expect([existsSync(folder), existsSync(kept)]).toEqual([false, true])
  expect(turns).toBeGreaterThan(1)
})

it('accepts a folder, or its parent, that does not exist', async () => {
  await removeFolder(join(tmpdir(), 'remove-folder-missing'))
  await removeFolder(join(tmpdir(), 'remove-folder-missing', 'inside'))
})
