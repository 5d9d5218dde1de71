import { expect, it } from 'vitest'
import { note } from '../fixtures/events.ts'
import { openSqlite } from '../fixtures/open.ts'

it('a journal that is written continuously is verified up to its head at the start', async () => {
  const journal = await (await openSqlite()).journal('sbx_a')
  const batch = Array.from({ length: 2_000 }, (_, index) => note(`${index}`))
  await journal.append(batch)
  const { head } = journal
  const writing = new AbortController()
  const written = (async () => {
    while (!writing.signal.aborted) await journal.append(batch)
  })()
  try {
    const verdict = await journal.verify({ head })
    expect(verdict).toMatchObject({ ok: true })
    expect(verdict.ok && verdict.head.seq).toBeGreaterThanOrEqual(head.seq)
  } finally {
    writing.abort()
    await written
  }
})
