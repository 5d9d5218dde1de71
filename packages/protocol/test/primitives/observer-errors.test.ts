import { describe, expect, it } from 'vitest'
import type { EventInput, JournalEvent, ObserverFailure } from '../../src/index.ts'
import { ObserverErrors } from '../../src/primitives/index.ts'

const event: JournalEvent = {
  journal: 'sbx_a',
  seq: 1,
  time: '2026-01-01T00:00:00.000Z',
  type: 'file.created',
  source: 'engine',
  sandbox: 'sbx_a',
  data: { path: '/a', kind: 'file' },
}

function recorded() {
  const logs: EventInput[] = []
  const failures: ObserverFailure[] = []
  const clock = { now: 0 }
  const errors = new ObserverErrors({
    onObserverError: (_error, failure) => failures.push(failure),
    log: (log) => logs.push(log),
    now: () => clock.now,
  })
  return { errors, logs, failures, clock }
}

describe('the errors of observers', () => {
  it('are counted by kind, and each is passed on with its event', () => {
    const { errors, failures } = recorded()
    errors.report('tap', new Error('a'), event)
    errors.report('onInstall', new Error('b'))
    errors.report('tap', new Error('c'))
    expect(failures).toEqual([
      { observer: 'tap', errors: 1, event },
      { observer: 'onInstall', errors: 1 },
      { observer: 'tap', errors: 2 },
    ])
  })

  it('are logged once a minute and kind, with the number of errors', () => {
    const { errors, logs, clock } = recorded()
    for (const now of [0, 1, 59_999, 60_000, 60_001]) {
      clock.now = now
      errors.report('tap', new Error(`at ${now}`), event)
      errors.report('onInstall', 'a text')
    }
    const message = (observer: string, text: string, count: number) => ({
      type: 'log.message',
      data: { level: 'error', message: `The observer ${observer} failed: ${text}`, observer, errors: count },
    })
    expect(logs).toEqual([
      { ...message('tap', 'at 0', 1), sandbox: 'sbx_a' },
      message('onInstall', 'a text', 1),
      { ...message('tap', 'at 60000', 4), sandbox: 'sbx_a' },
      message('onInstall', 'a text', 4),
    ])
  })

  it('cause no message when the observer failed on such a message, however late', () => {
    const { errors, logs, failures, clock } = recorded()
    errors.report('tap', new Error('first'), event)
    clock.now = 120_000
    const [log] = logs
    errors.report('tap', new Error('again'), {
      ...event,
      type: 'log.message',
      data: { ...log?.data },
    } as JournalEvent)
    expect(logs).toHaveLength(1)
    expect(failures).toHaveLength(2)
  })

  it('may come with an event that the observer has emptied', () => {
    const { errors, failures } = recorded()
    errors.report('tap', new Error('a'), { type: 'log.message' } as JournalEvent)
    errors.report('tap', new Error('b'), {} as JournalEvent)
    expect(failures).toHaveLength(2)
  })

  it.each<[string, () => unknown]>([
    [
      'throw',
      () => {
        throw new Error('broken')
      },
    ],
    ['reject', () => Promise.reject(new Error('broken'))],
  ])('affect nothing when the handler and the log %s too', async (_how, fail) => {
    const errors = new ObserverErrors({ onObserverError: fail, log: fail })
    errors.report('tap', new Error('a'))
    errors.guard('tap', fail)('value')
    await new Promise(setImmediate)
  })

  it.each([null, undefined, Object.create(null), Symbol('s'), 'x'.repeat(5_000), '\ud800'])(
    'may be any value (%#)',
    (thrown) => {
      const { errors, logs } = recorded()
      errors.report('tap', thrown)
      const [log] = logs
      expect(log?.data?.message).toMatch(/^The observer tap failed: /)
      expect(String(log?.data?.message).length).toBeLessThan(1_100)
      expect(String(log?.data?.message).isWellFormed()).toBe(true)
    },
  )
})
