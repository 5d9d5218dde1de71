import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { child } from '../fixtures/child.ts'
import { folder } from '../fixtures/folder.ts'
import { opened } from '../fixtures/opened.ts'
import type { TrimmerProcess } from '../fixtures/trimmer.ts'
import { expectInOrder } from './large-journal.ts'

test.each([0, 15, 40])(
  'a store whose owner was killed %i ms after a trim started is consistent and can be trimmed further',
  async (wait) => {
    const path = join(folder(), 'journal.db')
    const trimmer = await child<TrimmerProcess>('./trimmer.ts')
    await trimmer.call('begin', path, 20_000)
    await sleep(wait)
    await trimmer.kill('SIGKILL')
    const store = await opened(path, { retention: {} })
    const journal = await store.journal('sbx_a')
    const before = await expectInOrder({ path, store, journal })
    expect(before.holes.length).toBeGreaterThan(0)
    expect(before.rows).toBeGreaterThan(100)
    await journal.trim({ events: 100 })
    expect((await expectInOrder({ path, store, journal })).rows).toBeLessThan(before.rows)
  },
)
