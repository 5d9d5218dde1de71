import { memoryStore, openStore } from '@vitrine/journal'
import type { SandboxRecord } from '@vitrine/protocol/records'
import { expect, it, onTestFinished } from 'vitest'
import { SandboxLives } from '../../src/life-times/sandbox-lives.ts'
import { ManualClock } from './manual-clock.ts'

const month = 30 * 24 * 3_600_000

function record(clock: ManualClock, id: string, fields: Partial<SandboxRecord>): SandboxRecord {
  const createdAt = new Date(clock.now()).toISOString()
  const base = { version: 1, provider: 'local', state: 'stopped', labels: {}, local: {} } as const
  return { ...base, id, createdAt, beforeStop: [], skipOnPersist: [], ...fields }
}

async function scene() {
  const store = await openStore(memoryStore())
  onTestFinished(() => store.close())
  const clock = new ManualClock()
  const journal = await store.journal('host')
  const lost = new AbortController()
  const lives = new SandboxLives({ store: { lost: lost.signal }, journal, clock })
  return { clock, journal, lost, lives }
}

it('sandboxes on record are destroyed at their times; those without one and destroyed ones are left alone', async () => {
  const { clock, lives } = await scene()
  const records = [
    record(clock, 'month', { ttlMs: month }),
    record(clock, 'day', { ttlMs: month / 30 }),
    record(clock, 'never', {}),
    record(clock, 'gone', { ttlMs: 1, state: 'destroyed' }),
  ]
  const ended: string[] = []
  lives.open(records, async (id) => {
    ended.push(id)
    lives.remove(id)
  })
  await clock.move(month / 30)
  expect(ended).toEqual(['day'])
  await clock.move(month)
  expect(ended).toEqual(['day', 'month'])
  expect(clock.pending).toBe(0)
})

it('an end that fails is in the host’s journal and is tried again', async () => {
  const { clock, lives, journal } = await scene()
  let tries = 0
  lives.open([record(clock, 'stuck', { ttlMs: 10 })], async (id) => {
    tries += 1
    if (tries < 3) throw new Error('busy')
    lives.remove(id)
  })
  await clock.move(10_000)
  expect(tries).toBe(3)
  expect((await journal.read({ types: ['log.message'] })).events).toMatchObject(
    [1, 2].map(() => ({
      data: { level: 'error', sandbox: 'stuck', message: 'The sandbox stuck could not be ended (ttl): busy' },
    })),
  )
})

it('a host that was taken over ends no sandbox', async () => {
  const { clock, lives, lost } = await scene()
  const ended: string[] = []
  lives.open([record(clock, 'one', { ttlMs: 10 })], async (id) => void ended.push(id))
  lost.abort()
  lives.add(record(clock, 'two', { ttlMs: 10 }))
  await clock.move(100)
  expect([ended, clock.pending]).toEqual([[], 0])
})
