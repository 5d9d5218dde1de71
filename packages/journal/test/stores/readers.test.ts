import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { openStore, sqliteStore } from '../../src/index.ts'
import { child } from '../fixtures/child.ts'
import { events, everything, messages, note, numbers } from '../fixtures/events.ts'
import { folder } from '../fixtures/folder.ts'
import { opened } from '../fixtures/opened.ts'
import type { OwnerProcess } from '../fixtures/owner.ts'

describe('a reader in another process than the owner', () => {
  test('sees commits, and its tails are live', async () => {
    const path = join(folder(), 'journal.db')
    const other = await child<OwnerProcess>('./owner.ts')
    await other.call('open', path)
    await other.call('append', 'sbx_a', ['one'])
    const reader = await opened(path, { readOnly: true })
    const journal = await reader.journal('sbx_a')
    expect(await messages(journal)).toEqual(['one'])
    const tail = journal.tail()
    const whole = reader.tail()
    expect((await tail.next()).value).toMatchObject({ seq: 1 })
    expect((await whole.next()).value).toMatchObject({ journal: 'sbx_a', seq: 1 })
    const next = tail.next()
    const nextWhole = whole.next()
    await other.call('append', 'sbx_a', ['two'])
    expect((await next).value).toMatchObject({ seq: 2, data: { message: 'two' } })
    expect((await nextWhole).value).toMatchObject({ seq: 2, data: { message: 'two' } })
    await other.call('append', 'sbx_b', ['elsewhere'])
    expect((await whole.next()).value).toMatchObject({ journal: 'sbx_b', seq: 1 })
    await tail.return?.()
    await whole.return?.()
  })

  test('gets every event once and in order while the owner writes as fast as it can', async () => {
    const path = join(folder(), 'journal.db')
    const other = await child<OwnerProcess>('./owner.ts')
    await other.call('open', path)
    await other.call('append', 'sbx_a', ['0'])
    const reader = await opened(path, { readOnly: true })
    const seen: number[] = []
    const reading = (async () => {
      for await (const event of (await reader.journal('sbx_a')).tail()) {
        if ('seq' in event) seen.push(event.seq)
        if (seen.length === 2_001) return
      }
    })()
    for (let round = 0; round < 20; round += 1) {
      await other.call(
        'append',
        'sbx_a',
        numbers(1, 100).map((number) => `${round}/${number}`),
      )
    }
    await reading
    expect(seen).toEqual(numbers(1, 2_001))
  })

  test('continues after the owner was killed, and follows the next owner', async () => {
    const path = join(folder(), 'journal.db')
    const other = await child<OwnerProcess>('./owner.ts')
    await other.call('open', path)
    await other.call('append', 'sbx_a', ['one'])
    const reader = await opened(path, { readOnly: true })
    const tail = (await reader.journal('sbx_a')).tail()
    await tail.next()
    await other.kill('SIGKILL')
    expect(await messages(reader)).toEqual(['one'])
    const next = tail.next()
    const heir = await opened(path)
    await (await heir.journal('sbx_a')).append([note('two')])
    expect((await next).value).toMatchObject({ seq: 2, data: { message: 'two' } })
    await tail.return?.()
  })

  test('never blocks the owner or the next one', async () => {
    const path = join(folder(), 'journal.db')
    const first = await openStore(sqliteStore({ path }))
    await (await first.journal('sbx_a')).append([note('one')])
    const reader = await child<OwnerProcess>('./owner.ts')
    await reader.call('open', path, { readOnly: true })
    await first.close()
    const second = await opened(path)
    await (await second.journal('sbx_a')).append([note('two')])
    expect(await messages(second)).toEqual(['one', 'two'])
  })

  test('does not make the file look truncated when it uses an old snapshot', async () => {
    const path = join(folder(), 'journal.db')
    const first = await openStore(sqliteStore({ path }))
    const journal = await first.journal('sbx_a')
    await journal.append([note('one')])
    const other = new DatabaseSync(path, { readOnly: true })
    other.exec('BEGIN; SELECT count(*) FROM events')
    for (let round = 0; round < 20; round += 1) await journal.append([note('.'.repeat(20_000))])
    await first.close()
    const second = await opened(path)
    expect(await (await second.journal('sbx_a')).verify()).toMatchObject({ ok: true, events: 21 })
    other.close()
  })

  test('rejects writes with store_read_only', async () => {
    const path = join(folder(), 'journal.db')
    const owner = await opened(path)
    await (await owner.journal('sbx_a')).append([note('one')])
    const reader = await opened(path, { readOnly: true })
    await expect((await reader.journal('sbx_a')).append([note('two')])).rejects.toMatchObject({
      code: 'store_read_only',
    })
    await expect(reader.putBlob('bytes')).rejects.toMatchObject({ code: 'store_read_only' })
    expect(await messages(owner)).toEqual(['one'])
  })

  test('does not close open work', async () => {
    const path = join(folder(), 'journal.db')
    const other = await child<OwnerProcess>('./owner.ts')
    await other.call('open', path)
    await other.call('start', 'sbx_a', 'op_1')
    const reader = await opened(path, { readOnly: true })
    expect(events(await everything(reader)).map(({ type }) => type)).toEqual(['operation.started'])
  })

  test('is rejected when the file does not exist', async () => {
    const path = join(folder(), 'journal.db')
    await expect(openStore(sqliteStore({ path }), { readOnly: true })).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining(path),
    })
  })
})
