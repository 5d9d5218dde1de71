import { describe, expect, it } from 'vitest'
import type { PayloadPolicy, Store } from '../../src/index.ts'
import { eventsOf, openMemory } from '../fixtures/open.ts'
import { onlyOperation } from '../operate/operations.ts'
import { collector } from '../sinks-feed/collector.ts'

const facts = {
  stdout: 'o'.repeat(300),
  exitCode: 0,
}
const startData = { argv: ['cat', 'notes'], path: 'notes', env: { HOME: '/root' } }

async function operateOnce(store: Store): Promise<void> {
  const record = await store.journal('sbx_a')
  await record.operate('exec', startData, () => undefined, { finish: () => facts })
}

describe('the policy of a store', () => {
  it('decides for all readers which data is committed', async () => {
    const store = await openMemory({ policy: { output: false, argv: false, paths: false, env: false } })
    const record = await store.journal('sbx_a')
    const tapped: unknown[] = []
    record.tap((event) => void tapped.push(event.data))
    await operateOnce(store)
    const { started, finished } = await onlyOperation(record)
    expect(started.data).toEqual({ op: 'exec' })
    expect(finished.data).toMatchObject({ exitCode: 0, omitted: { stdout: { bytes: 300 } } })
    expect(finished.data).not.toHaveProperty('stdout')
    expect(tapped).toEqual([started.data, finished.data])
    expect((await record.verify()).ok).toBe(true)
  })

  it('stores output of 64 KiB unchanged and truncates more so that it stays in its event', async () => {
    const store = await openMemory()
    const record = await store.journal('sbx_a')
    const output = (data: string) => ({
      type: 'process.output',
      data: { process: 'p', stream: 'stdout', offset: 0, data, encoding: 'utf8' },
    })
    const whole = 'w'.repeat(64 * 1024)
    const [kept, cut] = await record.append([output(whole), output(`${whole}!`)])
    expect(kept?.data.data).toBe(whole)
    expect(kept?.data).not.toHaveProperty('omitted')
    expect(cut?.data.data).toMatch(/^w+…\[\d+ bytes left out\]…w+!$/)
    expect(cut?.data.omitted).toMatchObject({ data: { bytes: 64 * 1024 + 1 } })
  })

  it('does not change the result that the operation returns', async () => {
    const store = await openMemory({ policy: { output: false } })
    const record = await store.journal('sbx_a')
    const result = await record.operate('exec', {}, () => facts, { finish: (data) => data })
    expect(result).toBe(facts)
  })
})

describe('the policy of a sink', () => {
  async function twoSinks(policy: PayloadPolicy) {
    const store = await openMemory()
    const [narrow, whole] = [collector(), collector()]
    await store.addSink('narrow', narrow.sink, { policy, types: ['operation.*'] })
    await store.addSink('whole', whole.sink, { types: ['operation.*'] })
    await operateOnce(store)
    await store.flush()
    return { store, narrow: narrow.events(), whole: whole.events() }
  }

  it('limits the data of that sink only', async () => {
    const policy = { maxOutputBytes: 100, argv: false, paths: false, env: false } as const
    const { store, narrow, whole } = await twoSinks(policy)
    const journal = await eventsOf(await store.journal('sbx_a'))
    expect(whole).toEqual(journal)
    expect(journal[0]?.data).toEqual({ op: 'exec', argv: startData.argv, path: 'notes', env: ['HOME'] })
    expect(journal[1]?.data.stdout).toBe(facts.stdout)
    expect(narrow[0]).toEqual({ ...journal[0], data: { op: 'exec' } })
    expect(narrow[1]?.data.omitted).toMatchObject({ stdout: { bytes: 300 } })
    expect(String(narrow[1]?.data.stdout).length).toBeLessThanOrEqual(100)
  })

  it('cannot add data that the journal omitted', async () => {
    const { narrow, whole } = await twoSinks({ env: true, output: true, maxOutputBytes: Infinity })
    expect(narrow).toEqual(whole)
    expect(narrow[0]?.data.env).toEqual(['HOME'])
  })

  it('lets everything pass when it is empty', async () => {
    const { narrow, whole } = await twoSinks({})
    expect(narrow).toEqual(whole)
  })

  it('keeps the size and hash of a field that the journal truncated', async () => {
    const store = await openMemory({ policy: { maxOutputBytes: 200 } })
    const narrow = collector()
    await store.addSink('narrow', narrow.sink, { policy: { maxOutputBytes: 100 } })
    await operateOnce(store)
    await store.flush()
    const [, inJournal] = await eventsOf(await store.journal('sbx_a'))
    expect(inJournal?.data.omitted).toMatchObject({ stdout: { bytes: 300 } })
    expect(narrow.events()[1]?.data.omitted).toEqual(inJournal?.data.omitted)
    expect(String(narrow.events()[1]?.data.stdout).length).toBeLessThanOrEqual(100)
  })
})
