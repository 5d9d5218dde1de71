import { describe, expect, it } from 'vitest'
import { checkEventInput, type EventInput, isVitrineError, type VitrineError } from '../../src/index.ts'

/** The invalid value in every case; no part of an error may contain it. */
const planted = 'hunter2-planted'

function refusal(input: unknown, index?: number): VitrineError {
  try {
    checkEventInput(input as EventInput, index)
  } catch (error) {
    if (isVitrineError(error)) return error
    throw error
  }
  throw new Error('Expected a refusal, but the event passed.')
}

const ids = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) }
const output = { process: 'p', stream: 'stdout', offset: 0, data: 'x', encoding: 'utf8' }
const finish = { op: 'exec', outcome: 'ok', ok: true }

describe('checkEventInput for a malformed event', () => {
  it.each<[string, unknown, string, string, string]>([
    ['an input that is not an object', planted, 'events[0]', 'an object with type and data', 'a string'],
    ['null', null, 'events[0]', 'an object with type and data', 'null'],
    ['a type that is not a string', { type: 5 }, 'events[0].type', 'a string', 'a number'],
    ['no type', { data: { planted } }, 'events[0].type', 'a string', 'nothing'],
    [
      'an empty actor',
      { type: 'sandbox.ready', actor: '' },
      'events[0].actor',
      'a non-empty string without lone surrogates',
      'a string',
    ],
    [
      'a session that is no text',
      { type: 'sandbox.ready', session: { planted } },
      'events[0].session',
      'a non-empty string without lone surrogates',
      'an object',
    ],
    [
      'a run with a lone surrogate',
      { type: 'sandbox.ready', run: `${planted}\ud800` },
      'events[0].run',
      'a non-empty string without lone surrogates',
      'a string',
    ],
    [
      'data that is a string',
      { type: 'log.message', data: planted },
      'events[0].data',
      'a plain object',
      'a string',
    ],
    [
      'data that is an array',
      { type: 'sandbox.ready', data: [planted] },
      'events[0].data',
      'a plain object',
      'an array',
    ],
    [
      'data that would be written as a text',
      { type: 'sandbox.ready', data: new Date(0) },
      'events[0].data',
      'a plain object',
      'an object',
    ],
    [
      'data that says itself how it is written',
      { type: 'sandbox.ready', data: { toJSON: () => planted } },
      'events[0].data',
      'a plain object',
      'an object',
    ],
    [
      'bytes as data',
      { type: 'sandbox.ready', data: Buffer.from(planted) },
      'events[0].data',
      'a plain object',
      'an object',
    ],
    [
      'a missing field',
      { type: 'log.message', data: { level: 'info' } },
      'events[0].data.message',
      'a string or an object',
      'nothing',
    ],
    [
      'a value that is not in the enum',
      { type: 'log.message', data: { level: planted, message: planted } },
      'events[0].data.level',
      '"debug", "info", "warn" or "error"',
      'a string',
    ],
    [
      'a negative count',
      { type: 'process.output', data: { ...output, offset: -1 } },
      'events[0].data.offset',
      'at least 0',
      'a number',
    ],
    [
      'a count that is not whole',
      { type: 'process.output', data: { ...output, offset: 0.5 } },
      'events[0].data.offset',
      'a whole number',
      'a number',
    ],
    [
      'a number that is too large',
      { type: 'network.allowed', data: { host: planted, port: 70_000 } },
      'events[0].data.port',
      'at most 65535',
      'a number',
    ],
    [
      'an op of another form',
      { type: 'operation.started', data: { op: planted } },
      'events[0].data.op',
      'a string like /^[a-z][a-z0-9_]*$/',
      'a string',
    ],
    [
      'neither of two',
      { type: 'operation.finished', data: { ...finish, stdout: 5 } },
      'events[0].data.stdout',
      'a string or an object',
      'a number',
    ],
    [
      'an invalid blob reference',
      { type: 'operation.finished', data: { ...finish, stdout: { blob: planted, bytes: 1 } } },
      'events[0].data.stdout.blob',
      'a string like /^sha256:[0-9a-f]{64}$/',
      'a string',
    ],
    [
      'an exit code that is a string',
      { type: 'process.exited', data: { process: 'p', outcome: 'ok', exitCode: planted } },
      'events[0].data.exitCode',
      'a number',
      'a string',
    ],
    [
      'an invalid value inside an array',
      {
        type: 'journal.recovered',
        data: {
          reason: planted,
          closed: [
            { kind: 'run', id: '1', startedAt: 1 },
            { kind: 'run', id: [planted], startedAt: 1 },
          ],
        },
      },
      'events[0].data.closed[1].id',
      'a string',
      'an array',
    ],
    [
      'a trace that is not an object',
      { type: 'sandbox.ready', trace: planted },
      'events[0].trace',
      'an object with traceId and spanId',
      'a string',
    ],
    [
      'a trace id of another form',
      { type: 'sandbox.ready', trace: { ...ids, traceId: planted } },
      'events[0].trace.traceId',
      'a string like /^[0-9a-f]{32}$/',
      'a string',
    ],
    [
      'a trace without a span id',
      { type: 'sandbox.ready', trace: { traceId: ids.traceId } },
      'events[0].trace.spanId',
      'a string like /^[0-9a-f]{16}$/',
      'nothing',
    ],
    [
      'a parent span id of another form',
      { type: 'sandbox.ready', trace: { ...ids, parentSpanId: planted } },
      'events[0].trace.parentSpanId',
      'a string like /^[0-9a-f]{16}$/',
      'a string',
    ],
  ])('names the path, the expected value and the received kind, never the value: %s', (...row) => {
    const [, input, path, expected, got] = row
    const error = refusal(input)
    expect(error.code).toBe('event_invalid')
    expect(error.details).toEqual({ path, expected, got })
    expect(error.message).toBe(`${path}: expected ${expected}, got ${got}.`)
    expect(JSON.stringify(error)).not.toContain(planted)
    expect(`${error.message}${error.stack}`).not.toContain(planted)
    expect(error.cause).toBeUndefined()
  })

  it('begins the path with the index in the batch', () => {
    expect(refusal({ type: 'log.message', data: {} }, 7).details.path).toBe('events[7].data.level')
    expect(refusal({ type: 'nope' }, 7).details.path).toBe('events[7].type')
  })
})

describe('checkEventInput for an unknown type', () => {
  it('throws event_type_unknown and names the type', () => {
    const error = refusal({ type: 'file.touched', data: { planted } })
    expect(error.code).toBe('event_type_unknown')
    expect(error.details).toEqual({
      path: 'events[0].type',
      expected: 'an event type of Vitrine',
      got: 'file.touched',
    })
    expect(error.message).toContain('"file.touched"')
    expect(error.hint).toContain('foreignEvent')
    expect(JSON.stringify(error)).not.toContain(planted)
  })

  it('cuts a long type in the message', () => {
    const error = refusal({ type: 'x'.repeat(1_000_000) })
    expect(error.message.length).toBeLessThan(200)
    expect(JSON.stringify(error.details).length).toBeLessThan(300)
  })
})

describe('checkEventInput for a valid event', () => {
  it.each<[string, EventInput]>([
    ['without data where none is needed', { type: 'sandbox.ready' }],
    ['with all of its context', { type: 'sandbox.ready', actor: 'a', run: 'r', turn: 't', trace: ids }],
    ['with a parent span', { type: 'sandbox.ready', trace: { ...ids, parentSpanId: 'c'.repeat(16) } }],
    ['with data without a prototype', { type: 'sandbox.ready', data: Object.create(null) }],
  ])('accepts an event %s', (_what, input) => {
    expect(() => checkEventInput(input)).not.toThrow()
  })
})
