import { copyFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { messages, note } from '../fixtures/events.ts'
import { eventually } from '../fixtures/eventually.ts'
import { folder } from '../fixtures/folder.ts'
import { opened } from '../fixtures/opened.ts'

describe('a store whose file', () => {
  test.each([
    ['is deleted', 'deleted', '', (path: string) => rmSync(path)],
    ['is replaced by a copy', 'replaced', '', replace],
    ['is moved away', 'deleted', '', (path: string) => renameSync(path, `${path}.moved`)],
    ['has its log deleted', 'deleted', '-wal', (path: string) => rmSync(path)],
  ] as const)('%s fails with a commit and names the file', async (_, what, suffix, remove) => {
    const path = join(folder(), 'journal.db')
    const store = await opened(path)
    const journal = await store.journal('sbx_a')
    await journal.append([note('before')])
    remove(`${path}${suffix}`)
    // The log is not checked with each of many commits.
    if (suffix === '-wal')
      await eventually('a commit is refused', () =>
        journal.append([note('after')]).then(
          () => false,
          () => true,
        ),
      )
    await expect(journal.append([note('after')])).rejects.toMatchObject({
      code: 'store_failing',
      message: expect.stringContaining(`${path}${suffix} of the store was ${what}`),
    })
    expect(store.health).toMatchObject({ status: 'failing' })
    await expect(journal.operate('exec', {}, () => undefined)).rejects.toMatchObject({
      code: 'store_failing',
    })
  })

  test('was put back works again and has lost nothing', async () => {
    const path = join(folder(), 'journal.db')
    const store = await opened(path)
    const journal = await store.journal('sbx_a')
    await journal.append([note('before')])
    renameSync(path, `${path}.moved`)
    await expect(journal.append([note('never')])).rejects.toMatchObject({ code: 'store_failing' })
    renameSync(`${path}.moved`, path)
    await eventually('the store is well again', () => store.health.status === 'ok')
    await journal.append([note('after')])
    expect(await messages(journal)).toEqual(['before', 'after'])
  })
})

function replace(path: string): void {
  copyFileSync(path, `${path}.copy`)
  renameSync(`${path}.copy`, path)
}
