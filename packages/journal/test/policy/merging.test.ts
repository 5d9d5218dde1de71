import { describe, expect, it } from 'vitest'
import { defaultPolicy, type PayloadPolicy, policyRules, sinkRules } from '../../src/policy/policy.ts'
import { openMemory } from '../fixtures/open.ts'
import { thrownBy } from '../fixtures/until.ts'
import { onlyOperation, operationsOf } from '../operate/operations.ts'

describe('a policy', () => {
  it('is the default if nothing is set', () => {
    expect(policyRules()).toEqual({ base: defaultPolicy, byOp: {} })
    expect(policyRules({}, { exec: {} })).toEqual({ base: defaultPolicy, byOp: { exec: defaultPolicy } })
  })

  it('merges default, base and operation, and only set fields override', () => {
    const { base, byOp } = policyRules(
      { output: false, maxOutputBytes: 100, env: true },
      { exec: { output: true }, read: { maxOutputBytes: 5, paths: false } },
    )
    expect(base).toEqual({ ...defaultPolicy, output: false, maxOutputBytes: 100, env: true })
    expect(byOp.exec).toEqual({ ...base, output: true })
    expect(byOp.read).toEqual({ ...base, maxOutputBytes: 5, paths: false })
  })

  it('treats an explicit undefined as not set', () => {
    // Plain JavaScript and spread options can contain explicit undefined values.
    const unset = { output: undefined, maxOutputBytes: undefined, env: undefined } as unknown as PayloadPolicy
    const { base, byOp } = policyRules({ output: false, maxOutputBytes: 9, env: false }, { exec: unset })
    expect(byOp.exec).toEqual(base)
    expect(policyRules(unset).base).toEqual(defaultPolicy)
    expect(sinkRules(unset).base).toEqual(sinkRules().base)
  })

  it('treats 0 and false as set', () => {
    const { base } = policyRules({ maxOutputBytes: 0, maxTextBytes: 0, argv: false, errorText: false })
    expect(base).toMatchObject({ maxOutputBytes: 0, maxTextBytes: 0, argv: false, errorText: false })
  })

  it('stores names of variables without their values by default', () => {
    expect(defaultPolicy.env).toBe('names')
  })

  it.each(['maxOutputBytes', 'maxTextBytes'])('rejects a %s that is not a number of bytes', async (field) => {
    for (const value of [-1, Number.NaN, 1.5, '10' as never, null as never]) {
      const policy = { [field]: value }
      const calls = [
        () => openMemory({ policy }),
        () => openMemory({ policyByOp: { exec: policy } }),
        async () =>
          (await openMemory()).addSink('x', { kind: 'x', write: async () => undefined }, { policy }),
      ]
      for (const call of calls) {
        expect(await thrownBy(call)).toMatchObject({
          code: 'argument_invalid',
          message: expect.stringContaining(field),
        })
      }
    }
  })

  it('may have no limit', () => {
    expect(policyRules({ maxOutputBytes: Infinity }).base.maxOutputBytes).toBe(Infinity)
  })
})

describe('a policy by operation', () => {
  it('applies to that operation only', async () => {
    const store = await openMemory({ policy: { output: false }, policyByOp: { exec: { output: true } } })
    const record = await store.journal('sbx_a')
    for (const op of ['exec', 'read']) {
      await record.operate(op, {}, () => undefined, { finish: () => ({ stdout: 'words' }) })
    }
    const operations = await operationsOf(record)
    expect(operations.get('exec')?.finished.data.stdout).toBe('words')
    expect(operations.get('read')?.finished.data).not.toHaveProperty('stdout')
  })

  it('is not looked up in the prototype of the record', async () => {
    const store = await openMemory({ policyByOp: { exec: { output: false } } })
    const record = await store.journal('sbx_a')
    await record.operate('constructor', { note: 'kept' }, () => undefined, {
      finish: () => ({ stdout: 'words' }),
    })
    const { started, finished } = await onlyOperation(record)
    expect(started.data).toMatchObject({ note: 'kept' })
    expect(finished.data.stdout).toBe('words')
  })
})
