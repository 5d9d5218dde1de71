import { setTimeout as sleep } from 'node:timers/promises'
import { context, trace } from '@opentelemetry/api'
import { describe, expect, it } from 'vitest'
import { eventsOf, openMemory } from '../fixtures/open.ts'
import { thrownBy } from '../fixtures/until.ts'
import { onlyOperation, operationsOf } from './operations.ts'
import { startTracing } from './tracing.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const spanId = 'b7ad6b7169203331'
const traceparent = `00-${traceId}-${spanId}-01`

async function journal() {
  return (await openMemory()).journal('sbx_a')
}

async function nested(record: Awaited<ReturnType<typeof journal>>) {
  await record.operate('start', {}, async () => {
    await sleep(1)
    await Promise.all(['write', 'exec'].map((op) => record.operate(op, {}, () => sleep(1))))
  })
  return operationsOf(record)
}

describe.each([
  ['with a context manager', true],
  ['without a context manager', false],
])('spans %s', (_what, contextManager) => {
  it('nest like their operations and have the ids of their events', async () => {
    const tracing = startTracing({ contextManager })
    const operations = await nested(await journal())
    expect(tracing.spans()).toHaveLength(3)
    const outer = tracing.span('sandbox.start').spanContext()
    expect(tracing.span('sandbox.start').parentSpanContext).toBeUndefined()
    for (const op of ['start', 'write', 'exec']) {
      const span = tracing.span(`sandbox.${op}`)
      const ids = { traceId: span.spanContext().traceId, spanId: span.spanContext().spanId }
      const { started, finished } = operations.get(op)!
      expect(started.trace).toMatchObject(ids)
      expect(finished.trace).toEqual(started.trace)
      expect(ids.traceId).toBe(outer.traceId)
      if (op === 'start') expect(started.trace).not.toHaveProperty('parentSpanId')
      else {
        expect(span.parentSpanContext?.spanId).toBe(outer.spanId)
        expect(started.trace?.parentSpanId).toBe(outer.spanId)
      }
    }
  })

  it('join the trace of a remote caller', async () => {
    const tracing = startTracing({ contextManager })
    const record = await journal()
    await record.operate('exec', {}, () => record.operate('read', {}, () => undefined), { traceparent })
    const span = tracing.span('sandbox.exec')
    expect(span.spanContext().traceId).toBe(traceId)
    expect(span.parentSpanContext).toMatchObject({ traceId, spanId, isRemote: true })
    const operations = await operationsOf(record)
    expect(operations.get('exec')?.started.trace).toEqual({
      traceId,
      spanId: span.spanContext().spanId,
      parentSpanId: spanId,
    })
    expect(operations.get('read')?.started.trace).toMatchObject({
      traceId,
      parentSpanId: span.spanContext().spanId,
    })
  })
})

describe('spans of the application', () => {
  it('are parents and children of operation spans', async () => {
    const tracing = startTracing()
    const record = await journal()
    const tracer = trace.getTracer('app')
    await tracer.startActiveSpan('request', async (request) => {
      await record.operate('exec', {}, async () => {
        await sleep(1)
        tracer.startSpan('inside').end()
      })
      request.end()
    })
    const { spanId: operation } = tracing.span('sandbox.exec').spanContext()
    const { spanId: request } = tracing.span('request').spanContext()
    expect(tracing.span('sandbox.exec').parentSpanContext?.spanId).toBe(request)
    expect(tracing.span('inside').parentSpanContext?.spanId).toBe(operation)
    const { started } = await onlyOperation(record)
    expect(started.trace).toMatchObject({ spanId: operation, parentSpanId: request })
  })

  it('are not active any more after the operation', async () => {
    startTracing()
    const record = await journal()
    const before = trace.getSpan(context.active())
    await record.operate('exec', {}, () => undefined)
    expect(trace.getSpan(context.active())).toBe(before)
  })
})

describe('without an SDK', () => {
  it('operations have ids of the right form that nest and share a trace', async () => {
    const operations = await nested(await journal())
    const start = operations.get('start')?.started.trace
    expect(start).toEqual({
      traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
      spanId: expect.stringMatching(/^[0-9a-f]{16}$/),
    })
    const spans = new Set([start?.spanId])
    for (const op of ['write', 'exec']) {
      const { started, finished } = operations.get(op)!
      expect(started.trace).toEqual({
        traceId: start?.traceId,
        spanId: expect.stringMatching(/^[0-9a-f]{16}$/),
        parentSpanId: start?.spanId,
      })
      expect(finished.trace).toEqual(started.trace)
      spans.add(started.trace?.spanId)
    }
    expect(spans.size).toBe(3)
  })

  it('unrelated operations share no trace', async () => {
    const record = await journal()
    await record.operate('read', {}, () => undefined)
    await record.operate('write', {}, () => undefined)
    const traces = [...(await operationsOf(record)).values()].map(({ started }) => started.trace?.traceId)
    expect(new Set(traces).size).toBe(2)
  })

  it('an operation joins the trace of a remote caller', async () => {
    const record = await journal()
    await record.operate('exec', {}, () => undefined, { traceparent })
    const { started } = await onlyOperation(record)
    expect(started.trace).toEqual({
      traceId,
      spanId: expect.stringMatching(/^[0-9a-f]{16}$/),
      parentSpanId: spanId,
    })
    expect(started.trace?.spanId).not.toBe(spanId)
  })
})

describe('a traceparent', () => {
  it.each([
    ['of a newer version with more behind it', `01-${traceId}-${spanId}-01-what-comes`],
    ['that is not sampled', `00-${traceId}-${spanId}-00`],
  ])('is accepted: %s', async (_what, header) => {
    const record = await journal()
    await record.operate('exec', {}, () => undefined, { traceparent: header })
    expect((await onlyOperation(record)).started.trace).toMatchObject({ traceId, parentSpanId: spanId })
  })

  it.each([
    ['empty', ''],
    ['a word', 'planted'],
    ['a short trace id', `00-${traceId.slice(1)}-${spanId}-01`],
    ['a short span id', `00-${traceId}-${spanId.slice(1)}-01`],
    ['without flags', `00-${traceId}-${spanId}`],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-${spanId}-01`],
    ['a span id of zeros', `00-${traceId}-${'0'.repeat(16)}-01`],
    ['the forbidden version', `ff-${traceId}-${spanId}-01`],
    ['capital letters', traceparent.toUpperCase()],
    ['version 00 with something behind it', `${traceparent}-planted`],
    ['something behind it without a dash', `${traceparent}0`],
    ['a line break behind it', `${traceparent}\n`],
    ['a space before it', ` ${traceparent}`],
  ])('is rejected when malformed (%s): nothing runs and nothing is recorded', async (_what, header) => {
    const tracing = startTracing()
    const record = await journal()
    let ran = false
    const error = await thrownBy(() =>
      record.operate('exec', {}, () => (ran = true), { traceparent: header }),
    )
    expect(error).toMatchObject({ code: 'argument_invalid', message: expect.stringContaining('traceparent') })
    expect(String(error)).not.toContain('planted')
    expect(ran).toBe(false)
    expect(await eventsOf(record)).toEqual([])
    expect(tracing.spans()).toEqual([])
  })
})
