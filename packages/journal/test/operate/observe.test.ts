import { describe, expect, it } from 'vitest'
import { openMemory, stores } from '../fixtures/open.ts'
import { thrownBy } from '../fixtures/until.ts'
import { onlyOperation } from './operations.ts'

describe.each(stores)('operateInOneCommit in a %s store', (_kind, openStore) => {
  it('records start and end in one commit', async () => {
    const journal = await (await openStore()).journal('sbx_a')
    const seen: number[] = []
    journal.tap(({ seq }) => void seen.push(seq))
    const result = await journal.operateInOneCommit('stat', { path: 'a' }, () => 7, {
      finish: (size) => ({ size }),
    })
    expect(result).toBe(7)
    const { started, finished } = await onlyOperation(journal)
    expect(started.data).toEqual({ op: 'stat', path: 'a' })
    expect(finished.data).toMatchObject({ op: 'stat', outcome: 'ok', ok: true, size: 7 })
    expect(finished.operation).toBe(started.operation)
    expect([started.seq, finished.seq]).toEqual([1, 2])
  })

  it('records a failure and rejects with its error', async () => {
    const journal = await (await openStore()).journal('sbx_a')
    const failure = new Error('no')
    const thrown = await thrownBy(() =>
      journal.operateInOneCommit('stat', {}, () => {
        throw failure
      }),
    )
    expect(thrown).toBe(failure)
    expect((await onlyOperation(journal)).finished.data).toMatchObject({ outcome: 'failed', ok: false })
  })

  it('rejects instead of returning its result when the commit fails', async () => {
    const store = await openStore()
    const journal = await store.journal('sbx_a')
    await store.close()
    const thrown = await thrownBy(() => journal.operateInOneCommit('stat', {}, () => 'seen'))
    expect(thrown).toMatchObject({ code: 'store_closed' })
  })
})

it('operateInOneCommit asks the gates before it runs', async () => {
  const journal = await (await openMemory()).journal('sbx_a')
  journal.gate('deny all', () => 'deny')
  let ran = false
  const thrown = await thrownBy(() =>
    journal.operateInOneCommit('read', {}, () => {
      ran = true
    }),
  )
  expect(thrown).toMatchObject({ code: 'gate_refused' })
  expect(ran).toBe(false)
  expect((await onlyOperation(journal)).finished.data).toMatchObject({ outcome: 'failed' })
})
