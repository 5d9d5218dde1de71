import { runInNewContext } from 'node:vm'
import { VitrineError } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { openMemory } from '../fixtures/open.ts'
import { thrownBy } from '../fixtures/until.ts'
import { onlyOperation, operationsOf } from './operations.ts'

async function journal() {
  return (await openMemory()).journal('sbx_a')
}

/** Runs one operation that throws and returns its end event. */
async function endOf(thrown: unknown, signal?: AbortSignal) {
  const record = await journal()
  const caught = await thrownBy(() =>
    record.operate(
      'exec',
      {},
      () => {
        throw thrown
      },
      signal ? { signal } : {},
    ),
  )
  expect(caught).toBe(thrown)
  const { started, finished } = await onlyOperation(record)
  expect(finished.operation).toBe(started.operation)
  expect(finished.data.op).toBe('exec')
  expect(finished.data.durationMs).toBeGreaterThanOrEqual(0)
  return finished.data
}

describe('an operation that returns', () => {
  it('starts and finishes exactly once, with its data', async () => {
    const record = await journal()
    const result = await record.operate('read', { path: 'a.txt', user: 'ada' }, async () => 'content')
    expect(result).toBe('content')
    const { started, finished } = await onlyOperation(record)
    expect(started.data).toEqual({ op: 'read', path: 'a.txt', user: 'ada' })
    expect(finished.data).toEqual({ op: 'read', outcome: 'ok', ok: true, durationMs: expect.any(Number) })
    expect(started.seq).toBe(1)
    expect(finished.seq).toBe(2)
  })

  it('may return without a promise', async () => {
    const record = await journal()
    expect(await record.operate('running', {}, () => true)).toBe(true)
    expect((await onlyOperation(record)).finished.data.outcome).toBe('ok')
  })

  it('records the finish data of its result', async () => {
    const record = await journal()
    await record.operate('write', {}, async () => 12, { finish: (bytes) => ({ bytes }) })
    expect((await onlyOperation(record)).finished.data).toMatchObject({ ok: true, bytes: 12 })
  })

  it.each([
    ['an exit code of 3', { exitCode: 3 }, 'failed'],
    ['a signal', { exitCode: null, signal: 'SIGKILL' }, 'failed'],
    ['a signal beside an exit code of 0', { exitCode: 0, signal: 'SIGTERM' }, 'failed'],
    ['an outcome of its own', { exitCode: null, outcome: 'timeout' }, 'timeout'],
    ['an exit code that was not observed', { exitCode: null, signal: null }, 'interrupted'],
    ['an exit code of 0', { exitCode: 0, signal: null }, 'ok'],
  ] as const)('returns normally with %s and records the outcome', async (_what, facts, outcome) => {
    const record = await journal()
    const result = await record.operate('exec', {}, async () => facts, { finish: (data) => data })
    expect(result).toBe(facts)
    const { finished } = await onlyOperation(record)
    expect(finished.data).toMatchObject({ ...facts, outcome, ok: outcome === 'ok' })
  })

  it('cannot override op and ok in its finish data', async () => {
    const record = await journal()
    await record.operate('exec', {}, () => 1, { finish: (exitCode) => ({ exitCode, ok: true, op: 'other' }) })
    expect((await onlyOperation(record)).finished.data).toMatchObject({ op: 'exec', ok: false })
  })
})

describe('an operation that throws', () => {
  it('rejects with the error and records its type, code and message', async () => {
    const error = Object.assign(new TypeError('not a file'), { code: 'EISDIR' })
    expect(await endOf(error)).toMatchObject({
      outcome: 'failed',
      ok: false,
      errorType: 'TypeError',
      errorCode: 'EISDIR',
      errorMessage: 'not a file',
      retryable: 'unknown',
    })
  })

  it.each([
    ['a text', 'just words', 'string', 'just words'],
    ['nothing', undefined, 'undefined', 'undefined'],
    ['null', null, 'object', 'null'],
    ['a number', 7, 'number', '7'],
    ['a symbol', Symbol('stop'), 'symbol', 'Symbol(stop)'],
    ['an object', { message: 'from elsewhere' }, 'object', 'from elsewhere'],
    [
      'an object without a prototype',
      Object.create(null),
      'object',
      'a value that cannot be converted to a string was thrown',
    ],
    ['an error of another realm', runInNewContext('new RangeError("far away")'), 'RangeError', 'far away'],
    ['an error whose name is no text', Object.assign(new Error('odd'), { name: 5 }), 'object', 'odd'],
    [
      'an error that cannot be read',
      new Proxy(new Error('x'), {
        get: (_error, field) => {
          // Awaiting the value reads `then`.
          if (field === 'then') return undefined
          throw new Error('no')
        },
      }),
      'object',
      'a value that cannot be converted to a string was thrown',
    ],
  ])('ends once when it throws %s', async (_what, thrown, errorType, errorMessage) => {
    expect(await endOf(thrown)).toMatchObject({ outcome: 'failed', ok: false, errorType, errorMessage })
  })

  it.each([
    ['not_found', 'failed', false],
    ['store_busy', 'failed', true],
    ['timeout', 'timeout', 'unknown'],
    ['cancelled', 'cancelled', 'unknown'],
    ['interrupted', 'interrupted', 'unknown'],
  ] as const)('a VitrineError %s has %s, with its code', async (code, outcome, retryable) => {
    expect(await endOf(new VitrineError(code, 'why'))).toMatchObject({
      outcome,
      ok: false,
      errorType: 'VitrineError',
      errorCode: code,
      errorMessage: 'why',
      retryable,
    })
  })

  it.each([
    ['a TimeoutError', new DOMException('too slow', 'TimeoutError'), 'timeout'],
    ['an AbortError', new DOMException('stopped', 'AbortError'), 'cancelled'],
  ])('records for %s the outcome %s', async (_what, thrown, outcome) => {
    expect(await endOf(thrown)).toMatchObject({ outcome, errorCode: outcome, retryable: 'unknown' })
  })

  it('fails when it throws synchronously', async () => {
    const record = await journal()
    const error = new Error('at once')
    expect(
      await thrownBy(() =>
        record.operate('exec', {}, (): Promise<void> => {
          throw error
        }),
      ),
    ).toBe(error)
    expect((await onlyOperation(record)).finished.data.outcome).toBe('failed')
  })

  it('fails when its finish function throws', async () => {
    const record = await journal()
    const error = new Error('no account')
    const finish = () => {
      throw error
    }
    expect(await thrownBy(() => record.operate('exec', {}, () => 1, { finish }))).toBe(error)
    expect((await onlyOperation(record)).finished.data).toMatchObject({ errorMessage: 'no account' })
  })
})

describe('an operation whose account of its end is malformed', () => {
  it.each([
    ['a negative count', { bytes: -1 }],
    ['an outcome that is none', { outcome: 'splendid' as never }],
    ['output that is no text', { stdout: 5 }],
    [
      'more than an event may hold',
      Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`f${i}`, 'x'.repeat(60_000)])),
    ],
  ])('ends once as failed and rejects when the finish data has %s', async (_what, facts) => {
    const record = await journal()
    const error = await thrownBy(() => record.operate('exec', {}, () => 1, { finish: () => facts }))
    expect(error).toMatchObject({ code: 'event_invalid' })
    const { finished } = await onlyOperation(record)
    expect(finished.data).toMatchObject({ outcome: 'failed', ok: false, errorCode: 'event_invalid' })
  })
})

describe('an operation that is cancelled', () => {
  it('never runs when cancelled before it starts, and records start and end', async () => {
    const record = await journal()
    let ran = false
    const reason = new Error('not now')
    const error = await thrownBy(() =>
      record.operate('exec', {}, () => (ran = true), { signal: AbortSignal.abort(reason) }),
    )
    expect(error).toBe(reason)
    expect(ran).toBe(false)
    expect((await onlyOperation(record)).finished.data).toMatchObject({
      outcome: 'cancelled',
      ok: false,
      errorCode: 'cancelled',
      errorMessage: 'not now',
    })
  })

  it('ends as cancelled with the reason, even if the reason is not an error', async () => {
    const record = await journal()
    const controller = new AbortController()
    const call = record.operate(
      'exec',
      {},
      () =>
        new Promise((_resolve, reject) => {
          controller.signal.addEventListener('abort', () => reject(controller.signal.reason))
          controller.abort('enough')
        }),
      { signal: controller.signal },
    )
    expect(await thrownBy(() => call)).toBe('enough')
    expect((await onlyOperation(record)).finished.data).toMatchObject({
      outcome: 'cancelled',
      errorType: 'string',
      errorMessage: 'enough',
    })
  })

  it('ends as timeout when a time limit aborts it', async () => {
    const record = await journal()
    const signal = AbortSignal.timeout(5)
    await thrownBy(() =>
      record.operate(
        'exec',
        {},
        () =>
          new Promise((_resolve, reject) => {
            const keepAlive = setTimeout(() => undefined, 30_000)
            signal.addEventListener('abort', () => {
              clearTimeout(keepAlive)
              reject(signal.reason)
            })
          }),
        { signal },
      ),
    )
    expect((await onlyOperation(record)).finished.data).toMatchObject({
      outcome: 'timeout',
      errorType: 'TimeoutError',
    })
  })

  it('ends as ok when the signal aborts after it returned', async () => {
    const record = await journal()
    const controller = new AbortController()
    const result = await record.operate(
      'exec',
      {},
      () => {
        controller.abort()
        return 'done'
      },
      { signal: controller.signal },
    )
    expect(result).toBe('done')
    expect((await onlyOperation(record)).finished.data.outcome).toBe('ok')
  })
})

describe('many operations at once', () => {
  it('have one start and one end each, whatever their outcome', async () => {
    const record = await journal()
    const calls = Array.from({ length: 60 }, (_, index) =>
      record.operate(`op_${index}`, {}, async () => {
        await new Promise(setImmediate)
        if (index % 3 === 0) throw new Error('every third')
        return index
      }),
    )
    const results = await Promise.allSettled(calls)
    const operations = await operationsOf(record)
    expect(operations.size).toBe(60)
    for (const [index, { status }] of results.entries()) {
      const { finished } = operations.get(`op_${index}`)!
      expect(finished.data.ok).toBe(status === 'fulfilled')
    }
  })
})

describe('the end that an operation reports', () => {
  it.each([
    [{ outcome: 'ok' as const, exitCode: null }, 'interrupted'],
    [{ outcome: 'ok' as const, exitCode: 0, signal: 'SIGKILL' }, 'failed'],
    [{ outcome: 'ok' as const, exitCode: 2 }, 'failed'],
    [{ outcome: 'timeout' as const, exitCode: null, signal: 'SIGKILL' }, 'timeout'],
  ])('cannot claim ok against its exit code: %j', async (facts, outcome) => {
    const record = await journal()
    await record.operate('exec', {}, () => 1, { finish: () => facts })
    expect((await onlyOperation(record)).finished.data).toMatchObject({ outcome, ok: false })
  })

  it('ends even if reading the finish data throws', async () => {
    const record = await journal()
    const facts = {
      get stdout(): string {
        throw new Error('gone')
      },
    }
    await thrownBy(() => record.operate('exec', {}, () => 1, { finish: () => facts }))
    expect((await onlyOperation(record)).finished.data).toMatchObject({ outcome: 'failed' })
  })
})
