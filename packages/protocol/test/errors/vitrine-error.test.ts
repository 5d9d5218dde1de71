import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { errorRegistry, isVitrineError, toVitrineError, VitrineError } from '../../src/index.ts'

describe('VitrineError', () => {
  it('has the given cause, or none', () => {
    const cause = new Error('disk on fire')
    expect(new VitrineError('store_failing', 'x', { cause }).cause).toBe(cause)
    expect('cause' in new VitrineError('store_failing', 'x')).toBe(false)
    expect('cause' in new VitrineError('store_failing', 'x', { cause: undefined })).toBe(false)
    expect(new VitrineError('store_failing', 'x', { cause: null }).cause).toBeNull()
  })

  it('is an Error with its own name and a stack', () => {
    const error = new VitrineError('timeout', 'too late')
    expect(error).toBeInstanceOf(Error)
    expect(error.name).toBe('VitrineError')
    expect(String(error)).toBe('VitrineError: too late')
    expect(error.stack).toContain('vitrine-error.test')
  })

  it('has empty details by default', () => {
    expect(new VitrineError('timeout', 'x').details).toEqual({})
  })
})

describe('VitrineError.restored', () => {
  it('has the status, hint and retryable of its code', () => {
    const error = VitrineError.restored('timeout', 'too late')
    const { status, retryable, hint } = errorRegistry.timeout
    expect(error).toMatchObject({ code: 'timeout', message: 'too late', status, retryable, hint })
  })

  it('uses agent_failed for a code that is not in the registry', () => {
    const { status, hint } = errorRegistry.agent_failed
    for (const code of ['of_a_newer_version', 'toString'])
      expect(VitrineError.restored(code, 'x')).toMatchObject({ code: 'agent_failed', status, hint })
  })
})

describe('isVitrineError', () => {
  it('recognises an error of another copy of the package, where instanceof fails', () => {
    const other: unknown = runInNewContext(`
      class VitrineError extends Error { code = 'timeout'; [Symbol.for('vitrine.error')] = true }
      new VitrineError('late')
    `)
    expect(other).not.toBeInstanceOf(VitrineError)
    expect(isVitrineError(other)).toBe(true)
  })

  it.each([
    ['an Error', new Error('x')],
    ['an object with a code', { code: 'timeout', message: 'x' }],
    ['a string', 'timeout'],
    ['null', null],
    ['nothing', undefined],
    ['the class itself', VitrineError],
  ])('returns false for %s', (_what, value) => {
    expect(isVitrineError(value)).toBe(false)
  })
})

describe('toVitrineError', () => {
  it('returns a VitrineError unchanged', () => {
    const error = new VitrineError('timeout', 'x')
    expect(toVitrineError(error, 'sink_rejected')).toBe(error)
  })

  it('wraps any other value as the cause of an error with the given code', () => {
    const cause = new RangeError('out of range')
    const error = toVitrineError(cause, 'sink_rejected')
    expect(error).toMatchObject({ code: 'sink_rejected', message: 'out of range' })
    expect(error.cause).toBe(cause)
    expect(toVitrineError('plain').message).toBe('plain')
  })

  it.each([
    ['has no prototype', Object.create(null)],
    ['cannot be made a text', { toString: () => ({}), valueOf: () => ({}) }],
  ])('does not throw for a thrown object that %s', (_what, thrown) => {
    const error = toVitrineError(thrown)
    expect(error.code).toBe('internal')
    expect(error.cause).toBe(thrown)
  })
})
