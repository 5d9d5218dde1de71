import type { JournalEvent } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import type { Gate, GateAnswer, Journal } from '../../src/index.ts'
import { eventsOf, openMemory } from '../fixtures/open.ts'
import { thrownBy } from '../fixtures/until.ts'
import { onlyOperation, operationsOf } from '../operate/operations.ts'

async function journal(): Promise<Journal> {
  return (await openMemory()).journal('sbx_a')
}

/** Runs an operation that a gate must refuse, and returns the error. */
async function refused(record: Journal): Promise<unknown> {
  let ran = false
  const error = await thrownBy(() => record.operate('exec', { argv: ['rm'] }, () => (ran = true)))
  expect(ran).toBe(false)
  return error
}

describe('gates', () => {
  it('are called in the order they were added, each after the one before has answered', async () => {
    const record = await journal()
    const order: string[] = []
    for (const name of ['first', 'second', 'third']) {
      record.gate(name, async (): Promise<GateAnswer> => {
        order.push(`${name} asked`)
        await new Promise(setImmediate)
        order.push(`${name} answers`)
        return 'allow'
      })
    }
    await record.operate('exec', {}, () => order.push('ran'))
    expect(order).toEqual([
      ...['first asked', 'first answers', 'second asked', 'second answers'],
      ...['third asked', 'third answers', 'ran'],
    ])
  })

  it('have their answers recorded before the operation runs', async () => {
    const record = await journal()
    record.gate('one', () => 'allow')
    record.gate('two', () => ({ answer: 'allow', reason: 'small enough' }))
    await record.operate('exec', {}, async ({ id }) => {
      const events = await eventsOf(record)
      expect(events.map(({ type }) => type)).toEqual([
        'operation.started',
        'operation.progress',
        'operation.progress',
      ])
      expect(events.every(({ operation }) => operation === id)).toBe(true)
    })
    const { progress, finished } = await onlyOperation(record)
    expect(progress.map(({ data }) => data)).toEqual([
      { op: 'exec', gate: 'one', answer: 'allow', durationMs: expect.any(Number) },
      { op: 'exec', gate: 'two', answer: 'allow', reason: 'small enough', durationMs: expect.any(Number) },
    ])
    expect(finished.data.outcome).toBe('ok')
  })

  it('are called for every operation of their journal through any handle, and for no other journal', async () => {
    const store = await openMemory()
    const [a, b] = [await store.journal('sbx_a'), await store.journal('sbx_b')]
    const calledWith: unknown[] = []
    a.gate('policy', (start) => {
      calledWith.push(start.data.op)
      return 'allow'
    })
    await (await store.journal('sbx_a')).operate('one', {}, () => a.operate('two', {}, () => undefined))
    await a.as({ turn: 'turn_1' }).operate('three', {}, () => undefined)
    await b.operate('four', {}, () => undefined)
    expect(calledWith).toEqual(['one', 'two', 'three'])
  })

  it('are not called after they were removed', async () => {
    const record = await journal()
    const ungate = record.gate('policy', () => 'deny')
    record.gate('other', () => 'allow')
    await refused(record)
    ungate()
    ungate()
    expect(await record.operate('read', {}, () => 'ran')).toBe('ran')
    expect((await operationsOf(record)).get('read')?.progress).toHaveLength(1)
  })

  it('are called twice when added twice, and each is removed separately', async () => {
    const record = await journal()
    let calls = 0
    const gate: Gate = () => {
      calls += 1
      return 'allow'
    }
    const ungate = record.gate('policy', gate)
    record.gate('policy', gate)
    await record.operate('exec', {}, () => undefined)
    expect(calls).toBe(2)
    ungate()
    await record.operate('exec', {}, () => undefined)
    expect(calls).toBe(3)
  })
})

describe('a refusal', () => {
  it('ends the operation as failed, with the gate and its reason', async () => {
    const record = await journal()
    record.gate('policy', () => ({ answer: 'deny', reason: 'rm is not for you' }))
    const error = await refused(record)
    expect(error).toMatchObject({
      code: 'gate_refused',
      status: 403,
      message: 'The gate "policy" refused the operation: rm is not for you.',
      details: { gate: 'policy', reason: 'rm is not for you' },
    })
    const { progress, finished } = await onlyOperation(record)
    expect(progress.map(({ data }) => data.answer)).toEqual(['deny'])
    expect(finished.data).toMatchObject({
      op: 'exec',
      outcome: 'failed',
      ok: false,
      errorCode: 'gate_refused',
      retryable: false,
      gate: 'policy',
      reason: 'rm is not for you',
    })
  })

  it('has one full stop, also after a reason that is a sentence', async () => {
    const record = await journal()
    record.gate('policy', () => ({ answer: 'deny', reason: 'It is late.' }))
    expect(await refused(record)).toMatchObject({
      message: 'The gate "policy" refused the operation: It is late.',
      details: { reason: 'It is late.' },
    })
  })

  it('needs no reason', async () => {
    const record = await journal()
    record.gate('policy', () => 'deny')
    expect(await refused(record)).toMatchObject({ message: 'The gate "policy" refused the operation.' })
    expect((await onlyOperation(record)).finished.data).not.toHaveProperty('reason')
  })

  it('stops at the first gate that refuses, and the others are not called', async () => {
    const record = await journal()
    const calledWith: string[] = []
    const post = (name: string, answer: GateAnswer) =>
      record.gate(name, () => {
        calledWith.push(name)
        return answer
      })
    post('one', 'allow')
    post('two', { answer: 'deny', reason: 'two says no' })
    post('three', { answer: 'deny', reason: 'three says no' })
    expect(await refused(record)).toMatchObject({ details: { gate: 'two', reason: 'two says no' } })
    expect(calledWith).toEqual(['one', 'two'])
    const { progress } = await onlyOperation(record)
    expect(progress.map(({ data }) => [data.gate, data.answer])).toEqual([
      ['one', 'allow'],
      ['two', 'deny'],
    ])
  })

  it('is recorded with its reason redacted', async () => {
    const store = await openMemory()
    store.addSecret('TOKEN', 'hunter2-planted')
    const record = await store.journal('sbx_a')
    record.gate('policy', () => ({ answer: 'deny', reason: 'it contains hunter2-planted' }))
    await refused(record)
    expect(JSON.stringify(await eventsOf(record))).not.toContain('hunter2-planted')
    expect((await onlyOperation(record)).finished.data.reason).toBe('it contains [redacted:TOKEN]')
  })
})

describe('a gate that gives no answer', () => {
  it.each<[string, () => unknown, RegExp]>([
    [
      'it throws',
      () => {
        throw new Error('rules not loaded')
      },
      /failed: rules not loaded/,
    ],
    ['it rejects', () => Promise.reject(new Error('no rules')), /failed: no rules/],
    ['it throws a text', () => Promise.reject('no rules'), /failed: no rules/],
    [
      'it throws a value that cannot be converted to a string',
      () => Promise.reject(Object.create(null)),
      /failed: object/,
    ],
    ['it returns nothing', () => undefined, /neither 'allow' nor 'deny'/],
    ['it returns null', () => null, /neither/],
    ['it returns true', () => true, /neither/],
    ['it returns another word', () => 'ALLOW', /neither/],
    ['it returns an object without an answer', () => ({ reason: 'well' }), /neither/],
    ['it returns an object with another word', () => ({ answer: 'yes' }), /neither/],
    ['it returns a list', () => ['allow'], /neither/],
    [
      'it returns an object that cannot be read',
      () => ({
        get answer() {
          throw new Error('hands off')
        },
      }),
      /failed: hands off/,
    ],
  ])('refuses and records the reason: %s', async (_what, answer, reason) => {
    const record = await journal()
    record.gate('policy', answer as unknown as Gate)
    expect(await refused(record)).toMatchObject({ code: 'gate_refused', details: { gate: 'policy' } })
    const { finished, progress } = await onlyOperation(record)
    expect(finished.data).toMatchObject({ outcome: 'failed', errorCode: 'gate_refused', gate: 'policy' })
    expect(finished.data.reason).toMatch(reason)
    expect(progress[0]?.data.reason).toMatch(reason)
  })

  it.each(['allow', 'deny'] as const)('ignores a reason next to %s that is not a string', async (answer) => {
    const record = await journal()
    record.gate('policy', (() => ({ answer, reason: Object.create(null) })) as unknown as Gate)
    if (answer === 'allow') await record.operate('exec', {}, () => undefined)
    else await refused(record)
    const { progress } = await onlyOperation(record)
    expect(progress[0]?.data).toMatchObject({ answer })
    expect(progress[0]?.data).not.toHaveProperty('reason')
  })

  it.each([20, 0.5])(
    'refuses after its time limit of %d ms, and its signal is aborted',
    async (timeoutMs) => {
      const record = await journal()
      let gateSignal: AbortSignal | undefined
      record.gate(
        'slow',
        (_start, { signal }) => {
          gateSignal = signal
          return new Promise<GateAnswer>(() => undefined)
        },
        { timeoutMs },
      )
      const error = await refused(record)
      expect(error).toMatchObject({ code: 'gate_refused', details: { gate: 'slow' } })
      expect((await onlyOperation(record)).finished.data.reason).toMatch(/did not answer within \d+ ms/)
      expect(gateSignal?.aborted).toBe(true)
    },
  )

  it('has no effect when it answers after its time limit', async () => {
    const record = await journal()
    const late = Promise.withResolvers<GateAnswer>()
    record.gate('slow', () => late.promise, { timeoutMs: 10 })
    await refused(record)
    late.resolve('allow')
    await new Promise(setImmediate)
    const { progress } = await onlyOperation(record)
    expect(progress).toHaveLength(1)
  })

  it('has no effect when it fails after its time limit', async () => {
    const record = await journal()
    const late = Promise.withResolvers<GateAnswer>()
    record.gate('slow', () => late.promise, { timeoutMs: 10 })
    await refused(record)
    late.reject(new Error('late'))
    await new Promise(setImmediate)
    expect((await onlyOperation(record)).finished.data.reason).toMatch(/did not answer/)
  })
})

describe('the operation that a gate gets', () => {
  it('is the recorded start: redacted, complete and frozen', async () => {
    const store = await openMemory()
    store.addSecret('TOKEN', 'hunter2-planted')
    const record = (await store.journal('sbx_a')).as({ actor: 'ada', turn: 'turn_1' })
    let seen: JournalEvent | undefined
    record.gate('policy', (start) => {
      seen = start
      return 'allow'
    })
    await record.operate(
      'exec',
      { argv: ['curl', '-H', 'hunter2-planted'], nested: { list: [{ a: 1 }] } },
      () => undefined,
    )
    const { started } = await onlyOperation(record)
    expect(seen).toEqual(started)
    expect(seen).toMatchObject({ actor: 'ada', turn: 'turn_1' })
    expect(seen?.data.argv).toEqual(['curl', '-H', '[redacted:TOKEN]'])
    const frozen = (value: unknown): boolean =>
      typeof value !== 'object' ||
      value === null ||
      (Object.isFrozen(value) && Object.values(value).every(frozen))
    expect(frozen(seen)).toBe(true)
  })

  it('cannot be changed: trying to is a refusal', async () => {
    const record = await journal()
    record.gate('policy', (start) => {
      Object.assign(start.data, { argv: ['true'] })
      return 'allow'
    })
    expect(await refused(record)).toMatchObject({ code: 'gate_refused' })
    expect((await onlyOperation(record)).started.data.argv).toEqual(['rm'])
  })
})

describe('an operation that is cancelled', () => {
  it('ends as cancelled, not refused, and does not run when a gate is still deciding', async () => {
    const record = await journal()
    const controller = new AbortController()
    let gateSignal: AbortSignal | undefined
    record.gate('slow', (_start, { signal }) => {
      gateSignal = signal
      controller.abort(new Error('changed my mind'))
      return new Promise<GateAnswer>(() => undefined)
    })
    let ran = false
    const error = await thrownBy(() =>
      record.operate('exec', {}, () => (ran = true), { signal: controller.signal }),
    )
    expect(error).toMatchObject({ message: 'changed my mind' })
    expect(ran).toBe(false)
    expect(gateSignal?.aborted).toBe(true)
    expect((await onlyOperation(record)).finished.data).toMatchObject({
      outcome: 'cancelled',
      errorCode: 'cancelled',
    })
  })

  it('calls no gate when it is cancelled beforehand', async () => {
    const record = await journal()
    let wasCalled = false
    record.gate('policy', () => {
      wasCalled = true
      return 'allow'
    })
    await thrownBy(() => record.operate('exec', {}, () => undefined, { signal: AbortSignal.abort() }))
    expect(wasCalled).toBe(false)
    expect((await onlyOperation(record)).progress).toEqual([])
  })

  it('ends as cancelled even if the gate allows it afterwards', async () => {
    const record = await journal()
    const controller = new AbortController()
    record.gate('policy', () => {
      controller.abort()
      return 'allow'
    })
    let ran = false
    await thrownBy(() => record.operate('exec', {}, () => (ran = true), { signal: controller.signal }))
    expect(ran).toBe(false)
    expect((await onlyOperation(record)).finished.data.outcome).toBe('cancelled')
  })
})

describe('a gate that cannot be added', () => {
  it.each<[string, () => unknown]>([
    ['without a name', async () => (await journal()).gate('', () => 'allow')],
    ['without a function', async () => (await journal()).gate('policy', 'allow' as unknown as Gate)],
    ['without time', async () => (await journal()).gate('policy', () => 'allow', { timeoutMs: 0 })],
    ['with negative time', async () => (await journal()).gate('policy', () => 'allow', { timeoutMs: -1 })],
    [
      'with no number',
      async () => (await journal()).gate('policy', () => 'allow', { timeoutMs: Number.NaN }),
    ],
    ['with all time', async () => (await journal()).gate('policy', () => 'allow', { timeoutMs: Infinity })],
  ])('fails with the expected value: %s', async (_what, post) => {
    expect(await thrownBy(post)).toMatchObject({
      code: 'argument_invalid',
      message: expect.stringContaining('expected'),
    })
  })
})
