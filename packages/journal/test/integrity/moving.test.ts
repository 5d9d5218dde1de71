import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Journal, openStore, sqliteStore } from '../../src/index.ts'
import { note, numbers, output } from '../fixtures/events.ts'
import { folder } from '../fixtures/folder.ts'

describe('a journal that changes during verification', () => {
  test('verifies while it is written', async () => {
    const { journal } = await filled(5_000)
    await whileRunning(
      () => journal.append([note('meanwhile')]),
      async () => {
        for (let round = 0; round < 5; round += 1) expect(await journal.verify()).toMatchObject({ ok: true })
      },
    )
  })

  test('verifies while another process writes to it', async () => {
    const { path, journal } = await filled(5_000)
    const reader = await openStore(sqliteStore({ path }), { readOnly: true })
    onTestFinished(() => reader.close())
    const read = await reader.journal('sbx_a')
    await whileRunning(
      () => journal.append([note('meanwhile')]),
      async () => {
        for (let round = 0; round < 5; round += 1) expect(await read.verify()).toMatchObject({ ok: true })
      },
    )
  })

  test('verifies while it is trimmed', async () => {
    const { journal } = await filled(8_000)
    for (const events of [6_000, 4_000, 2_000, 500]) {
      const trimming = journal.trim({ events })
      expect(await journal.verify()).toMatchObject({ ok: true })
      await trimming
    }
    expect(await journal.verify()).toMatchObject({ ok: true })
  })
})

/** Repeats a task until another one is finished. */
async function whileRunning(act: () => Promise<unknown>, rest: () => Promise<void>): Promise<void> {
  let going = true
  const acting = (async () => {
    while (going) await act()
  })()
  try {
    await rest()
  } finally {
    going = false
    await acting
  }
}

async function filled(count: number): Promise<{ path: string; journal: Journal }> {
  const path = join(folder(), 'journal.db')
  const store = await openStore(sqliteStore({ path }))
  onTestFinished(() => store.close())
  const journal = await store.journal('sbx_a')
  for (let from = 0; from < count; from += 1_000)
    await journal.append(numbers(1, 1_000).map((number) => output(from + number, `${number}`)))
  return { path, journal }
}
