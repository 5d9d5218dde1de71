import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromProblem, isVitrineError, toProblem, VitrineError } from '../../src/index.ts'
import { codes } from './codes.ts'
import { details } from './details.ts'

describe('toProblem', () => {
  it('round-trips an error through fromProblem', () => {
    fc.assert(
      fc.property(fc.constantFrom(...codes), fc.string(), details, (code, message, facts) => {
        const error = new VitrineError(code, message, { details: facts })
        const wire: unknown = JSON.parse(JSON.stringify(toProblem(error)))
        const back = fromProblem(wire)
        expect(back).toBeInstanceOf(VitrineError)
        expect(back.message).toBe(message)
        expect({ ...back }).toEqual({ ...error })
        expect(JSON.parse(JSON.stringify(toProblem(back)))).toEqual(wire)
      }),
    )
  })

  it('has the members of RFC 9457 and those of Vitrine', () => {
    const problem = toProblem(new VitrineError('blob_too_large', 'Too big.', { details: { limit: 3 } }))
    expect(problem).toEqual({
      type: 'urn:vitrine:error:blob_too_large',
      title: 'blob too large',
      status: 413,
      detail: 'Too big.',
      code: 'blob_too_large',
      retryable: false,
      hint: expect.stringContaining('blobs.maxBytes'),
      details: { limit: 3 },
    })
  })

  it('contains nothing of the cause or the stack', () => {
    const cause = Object.assign(new Error('planted-message', { cause: new Error('planted-inner') }), {
      code: 'planted-code',
      secret: 'planted-property',
    })
    const error = Object.assign(new VitrineError('internal', 'It failed.', { cause }), {
      extra: 'planted-extra',
    })
    const wire = JSON.stringify(toProblem(error))
    expect(wire).not.toContain('planted')
    expect(wire).not.toContain('problem.test')
    expect(Object.keys(JSON.parse(wire)).sort()).toEqual([
      'code',
      'detail',
      'hint',
      'retryable',
      'status',
      'title',
      'type',
    ])
  })

  it('returns internal for other errors, without the stack', () => {
    const wire = toProblem(new TypeError('x is not a function'))
    expect(wire).toMatchObject({ code: 'internal', status: 500, detail: 'x is not a function' })
    expect(JSON.stringify(wire)).not.toContain('problem.test')
  })

  it.each([
    ['a string', 'boom'],
    ['nothing', undefined],
    ['null', null],
    ['an object without a prototype', Object.create(null)],
    ['an object that cannot be a text', { toString: () => ({}) }],
    ['a symbol', Symbol('stop')],
  ])('accepts %s as a thrown value', (_what, thrown) => {
    expect(toProblem(thrown)).toMatchObject({ code: 'internal', detail: expect.any(String) })
  })
})

describe('fromProblem', () => {
  it('keeps the code, status, hint and details of a newer version', () => {
    const newer = {
      type: 'urn:vitrine:error:quota_spent',
      title: 'quota spent',
      status: 429,
      detail: 'No turns left today.',
      code: 'quota_spent',
      retryable: true,
      hint: 'Wait until tomorrow.',
      details: { until: '2030-01-01' },
      instance: '/v1/sandboxes/1',
    }
    const error = fromProblem(newer)
    expect(error).toMatchObject({
      code: 'quota_spent',
      status: 429,
      message: 'No turns left today.',
      retryable: true,
      hint: 'Wait until tomorrow.',
      details: { until: '2030-01-01' },
    })
    const { instance: _instance, ...known } = newer
    expect(toProblem(error)).toEqual(known)
  })

  it('takes status, retryable and hint from the registry if only the code is given', () => {
    expect(fromProblem({ code: 'store_busy' })).toMatchObject({
      code: 'store_busy',
      status: 503,
      retryable: true,
      message: 'store_busy',
      details: {},
    })
  })

  it.each([
    ['HTML of a proxy', '<html>502</html>'],
    ['nothing', undefined],
    ['null', null],
    ['an object without a code', { error: 'x' }],
    ['a code that is no text', { code: 5 }],
    ['facts that are no object', { code: 'timeout', details: 'x' }],
    ['an array', []],
  ])('returns an internal error with %s as the cause', (_what, wire) => {
    const error = fromProblem(wire)
    expect(isVitrineError(error)).toBe(true)
    expect(error.code).toBe('internal')
    expect(error.cause).toBe(wire)
  })
})
