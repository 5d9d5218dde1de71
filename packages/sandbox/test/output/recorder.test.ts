import { setImmediate as turn } from 'node:timers/promises'
import { memoryStore } from '@vitrine/journal'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { failingDriver } from '../../../../conformance/src/drivers/failing-driver.ts'
import { OutputRecorder, type OutputRecorderOptions, type OutputStream } from '../../src/output/recorder.ts'
import { until } from '../fixtures/until.ts'
import { chunks } from './chunks.ts'
import { eventsOf, holding, openJournal, outputOf, together } from './journals.ts'

function recorderOf({
  journal,
  budget = 1_000_000,
  onDrain = () => undefined,
}: Partial<OutputRecorderOptions>) {
  if (journal === undefined) throw new Error('A journal is needed.')
  return new OutputRecorder({ journal, process: 'prc_1', budget, onDrain })
}

describe('the recorder of output', () => {
  it('writes all output with its offset, in the order of each stream', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom<OutputStream>('stdout', 'stderr'), chunks())),
        async (given) => {
          const { journal } = await openJournal()
          const recorder = recorderOf({ journal })
          const taken = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0), terminal: Buffer.alloc(0) }
          for (const [stream, parts] of given) {
            for (const part of parts) recorder.take(stream, part)
            taken[stream] = Buffer.concat([taken[stream], ...parts])
            await turn()
          }
          await recorder.end()
          const written = await outputOf(journal)
          for (const stream of ['stdout', 'stderr'] as const) {
            const own = written.filter((one) => one.stream === stream)
            expect(Buffer.concat(own.map(({ bytes }) => bytes))).toEqual(taken[stream])
            let offset = 0
            for (const one of own) {
              expect(one.offset).toBe(offset)
              offset += one.bytes.length
            }
          }
          expect(recorder.bytes).toBe(taken.stdout.length + taken.stderr.length)
          expect(recorder.skipped).toBe(0)
        },
      ),
      { numRuns: 30 },
    )
  })

  it('writes the output of one tick as one event for each stream', async () => {
    const { journal } = await openJournal()
    const recorder = recorderOf({ journal })
    for (const word of ['a', 'b', 'c']) {
      recorder.take('stdout', Buffer.from(word))
      recorder.take('stderr', Buffer.from(word))
    }
    await recorder.end()
    expect((await outputOf(journal)).map(({ bytes }) => bytes.toString())).toEqual(['abc', 'abc'])
  })

  it('keeps a character complete that arrives in two ticks', async () => {
    const { journal } = await openJournal()
    const recorder = recorderOf({ journal })
    const bytes = Buffer.from('a😀')
    recorder.take('terminal', bytes.subarray(0, 3))
    await turn()
    await turn()
    recorder.take('terminal', bytes.subarray(3))
    await recorder.end()
    expect((await outputOf(journal)).map(({ offset, bytes: part }) => [offset, part.toString()])).toEqual([
      [0, 'a'],
      [1, '😀'],
    ])
  })
})

describe('a budget', () => {
  it('records the first three quarters and the last quarter, and the number of bytes skipped between them', async () => {
    const { journal } = await openJournal()
    const recorder = recorderOf({ journal, budget: 100 })
    const whole = Array.from({ length: 1_000 }, (_, index) => String(index % 10)).join('')
    for (let at = 0; at < whole.length; at += 7) recorder.take('stdout', Buffer.from(whole.slice(at, at + 7)))
    await recorder.end()
    const written = await outputOf(journal)
    const last = written.at(-1)
    expect(together(written)).toBe(whole.slice(0, 75) + whole.slice(-25))
    expect(last).toMatchObject({ offset: 975, skipped: 900 })
    expect([recorder.bytes, recorder.skipped]).toEqual([1_000, 900])
  })

  it('reports once that the budget is spent', async () => {
    const { journal } = await openJournal()
    const recorder = recorderOf({ journal, budget: 10 })
    for (const stream of ['stdout', 'stderr'] as const)
      for (let count = 0; count < 5; count += 1) recorder.take(stream, Buffer.from('0123456789'))
    await recorder.end()
    const told = (await eventsOf(journal)).filter(({ type }) => type === 'limit.reached')
    expect(told.map(({ data }) => data)).toEqual([{ limit: 'process.output', max: 10, process: 'prc_1' }])
  })

  it('skips nothing if the budget is just enough', async () => {
    const { journal } = await openJournal()
    const recorder = recorderOf({ journal, budget: 20 })
    recorder.take('stdout', Buffer.from('0123456789'))
    recorder.take('stdout', Buffer.from('abcdefghij'))
    await recorder.end()
    const written = await outputOf(journal)
    expect(together(written)).toBe('0123456789abcdefghij')
    expect(written.filter(({ skipped }) => skipped > 0)).toEqual([])
  })

  it('two streams together do not exceed the budget', async () => {
    const { journal } = await openJournal()
    const recorder = recorderOf({ journal, budget: 1_000 })
    for (let count = 0; count < 100; count += 1) {
      recorder.take('stdout', Buffer.alloc(50, 'o'))
      recorder.take('stderr', Buffer.alloc(50, 'e'))
    }
    await recorder.end()
    const written = await outputOf(journal)
    expect(written.reduce((sum, { bytes }) => sum + bytes.length, 0)).toBeLessThanOrEqual(1_000)
    for (const stream of ['stdout', 'stderr'])
      expect(written.filter((one) => one.stream === stream).at(-1)?.bytes.length).toBeGreaterThan(0)
    expect(recorder.bytes).toBe(10_000)
  })
})

describe('a journal that is slow', () => {
  it('is full above 1 MiB of uncommitted bytes, and calls onDrain once', async () => {
    const driver = holding(memoryStore())
    const { journal } = await openJournal(driver)
    let drained = 0
    const recorder = recorderOf({
      journal,
      budget: 100_000_000,
      onDrain: () => {
        drained += 1
      },
    })
    const release = driver.pause()
    for (let count = 0; count < 16; count += 1) recorder.take('stdout', Buffer.alloc(65_536, 'x'))
    expect(recorder.full).toBe(false)
    recorder.take('stdout', Buffer.from('x'))
    expect(recorder.full).toBe(true)
    await turn()
    expect(drained).toBe(0)
    release()
    await until(() => drained > 0)
    expect(recorder.full).toBe(false)
    await recorder.end()
    expect(drained).toBe(1)
    expect(together(await outputOf(journal))).toHaveLength(16 * 65_536 + 1)
  })

  it('stays full until onDrain, also while fewer than 1 MiB are uncommitted', async () => {
    const driver = holding(memoryStore())
    const { journal } = await openJournal(driver)
    let drained = 0
    const recorder = recorderOf({
      journal,
      budget: 100_000_000,
      onDrain: () => {
        drained += 1
      },
    })
    const releaseFirst = driver.pause()
    recorder.take('stdout', Buffer.alloc(600_000, 'x'))
    await turn()
    await turn()
    const releaseSecond = driver.pause()
    recorder.take('stdout', Buffer.alloc(600_000, 'x'))
    expect(recorder.full).toBe(true)
    releaseFirst()
    while ((await outputOf(journal)).length === 0) await turn()
    await turn()
    expect({ full: recorder.full, drained }).toEqual({ full: true, drained: 0 })
    releaseSecond()
    await until(() => drained > 0)
    expect(recorder.full).toBe(false)
    await recorder.end()
  })
})

describe('a store that fails for a while', () => {
  it('gets all output in order after the store accepts commits again', async () => {
    const driver = failingDriver(memoryStore())
    const { store, journal } = await openJournal(driver)
    const recorder = recorderOf({ journal })
    recorder.take('stdout', Buffer.from('before '))
    await turn()
    driver.full = true
    for (const word of ['one ', 'two ', 'three ', 'four ', 'five ']) {
      recorder.take('stdout', Buffer.from(word))
      await until(() => store.health.status === 'failing')
      // Each commit is rejected at another time, and so retried at another time.
      await new Promise((resume) => setTimeout(resume, 30))
    }
    driver.full = false
    recorder.take('stdout', Buffer.from('after'))
    await recorder.end()
    const written = await outputOf(journal)
    expect(together(written)).toBe('before one two three four five after')
    expect(written.map(({ offset }) => offset)).toEqual(
      written.map(({ offset }) => offset).sort((a, b) => a - b),
    )
  })

  it('gets no secret that was split over rejected commits', async () => {
    const driver = failingDriver(memoryStore())
    const { store, journal } = await openJournal(driver)
    store.addSecret('TOKEN', 'hunter2-planted')
    const recorder = recorderOf({ journal })
    driver.full = true
    for (const part of ['<hun', 'ter2-', 'plan', 'ted>']) {
      recorder.take('stdout', Buffer.from(part))
      await new Promise((resume) => setTimeout(resume, 40))
    }
    driver.full = false
    await recorder.end()
    const seen = together(await outputOf(journal))
    expect(seen).not.toContain('planted')
    expect(seen).toMatch(/^<(h|hu|hun)?\[redacted:TOKEN\]>$/)
  })

  it('gets no secret whose beginning was committed before the failure', async () => {
    const driver = failingDriver(memoryStore())
    const { store, journal } = await openJournal(driver)
    store.addSecret('TOKEN', 'hunter2-planted')
    const recorder = recorderOf({ journal })
    recorder.take('stdout', Buffer.from('<hun'))
    await until(() => journal.head.seq > 0)
    driver.full = true
    recorder.take('stdout', Buffer.from('ter2-planted>'))
    await until(() => store.health.status === 'failing')
    driver.full = false
    await recorder.end()
    expect(together(await outputOf(journal))).toBe('<hun[redacted:TOKEN]>')
  })

  it('ends when the store is closed', async () => {
    const { store, journal } = await openJournal()
    const recorder = recorderOf({ journal })
    await store.close()
    recorder.take('stdout', Buffer.from('to nobody'))
    await recorder.end()
    expect(recorder.bytes).toBe(9)
  })
})

describe('a secret in the output', () => {
  it.each([
    ['in one chunk', ['a hunter2-planted b']],
    ['over two chunks', ['a hunter2', '-planted b']],
    ['byte by byte', [...'a hunter2-planted b']],
  ])('masks a secret %s', async (_name, parts) => {
    const { store, journal } = await openJournal()
    store.addSecret('TOKEN', 'hunter2-planted')
    const recorder = recorderOf({ journal })
    for (const part of parts) {
      recorder.take('stdout', Buffer.from(part))
      await turn()
    }
    await recorder.end()
    expect(together(await outputOf(journal))).toMatch(/^a (h|hu|hun)?\[redacted:TOKEN\] b$/)
  })

  it('masks a secret beside bytes that are not text', async () => {
    const { store, journal } = await openJournal()
    store.addSecret('TOKEN', 'hunter2-planted')
    const recorder = recorderOf({ journal })
    recorder.take('stdout', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('hunter2-planted')]))
    await recorder.end()
    expect(together(await outputOf(journal))).not.toContain('planted')
  })

  it('masks a secret that the budget cuts in two', async () => {
    const { store, journal } = await openJournal()
    store.addSecret('TOKEN', 'hunter2-planted')
    const recorder = recorderOf({ journal, budget: 40 })
    // The first thirty bytes end in the middle of the secret.
    recorder.take('stdout', Buffer.from(`${'x'.repeat(20)}hunter2-planted`))
    await recorder.end()
    expect(together(await outputOf(journal))).not.toContain('hunter2-planted')
  })

  it('masks a secret whose beginning is left out, and one over the first two events after that', async () => {
    const { store, journal } = await openJournal()
    store.addSecret('TOKEN', 'hunter2-planted-in-the-output')
    const recorder = recorderOf({ journal, budget: 512 * 1024 })
    const last = Buffer.alloc(128 * 1024, 'z')
    last.write('-planted-in-the-output')
    last.write('hunter2-planted-in-the-output', 64 * 1024 - 20)
    recorder.take('stdout', Buffer.concat([Buffer.alloc(512 * 1024, 'x'), Buffer.from('hunter2'), last]))
    await recorder.end()
    const written = await outputOf(journal)
    const shown = together(written).replace(/x+/, 'x').replaceAll(/z+/g, 'z')
    expect(shown).toMatch(/^x\[redacted:TOKEN\]z(h|hu|hun)?\[redacted:TOKEN\]z$/)
  })
})
