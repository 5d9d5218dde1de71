import { execFileSync } from 'node:child_process'
import { dirname } from 'node:path'
import { expect, it } from 'vitest'
import { cloneDataFolder } from '../../src/serve/clone-folder.ts'

it('the data folder of a clone is in the clone, and git ignores it', ({ skip }) => {
  const folder = cloneDataFolder()
  // A root host starts commands as another user, who may not be able to reach this clone.
  if (folder === undefined) return skip()
  expect(folder).toMatch(/\/\.vitrine$/)
  const ignored = execFileSync('git', ['check-ignore', '-v', '.vitrine/'], {
    cwd: dirname(folder),
    encoding: 'utf8',
  })
  expect(ignored).toContain('.gitignore')
})
