import { SpanStatusCode } from '@opentelemetry/api'
import { VitrineError } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { openMemory } from '../fixtures/open.ts'
import { thrownBy } from '../fixtures/until.ts'
import { onlyOperation } from './operations.ts'
import { exported, startTracing } from './tracing.ts'

/** A text in arguments, results and errors that must never appear in a span. */
const planted = 'planted-7f3a'

async function journal() {
  return (await openMemory()).journal('sbx_a', { backend: 'docker' })
}

const always = {
  'sandbox.backend': 'docker',
  'sandbox.operation': 'exec',
  'sandbox.session.id': 'sbx_a',
  session_id: 'sbx_a',
}

describe('the span of an operation that went well', () => {
  it('has the name of the operation and only attributes about where it ran', async () => {
    const tracing = startTracing()
    const record = await journal()
    await record.operate('exec', { argv: ['cat', planted], cwd: `/${planted}`, env: { A: planted } }, () => 0)
    const span = tracing.span('sandbox.exec')
    expect(tracing.spans()).toHaveLength(1)
    expect(span.attributes).toEqual(always)
    expect(span.status).toEqual({ code: SpanStatusCode.UNSET })
    expect(span.events).toEqual([])
    expect(span.links).toEqual([])
    expect(JSON.stringify(exported(span))).not.toContain(planted)
  })

  it('names the sandbox when the journal has another id', async () => {
    const tracing = startTracing()
    const record = (await (await openMemory()).journal('host')).as({ sandbox: 'sbx_1', backend: 'e2b' })
    await record.operate('ls', {}, () => undefined)
    expect(tracing.span('sandbox.ls').attributes).toEqual({
      'sandbox.backend': 'e2b',
      'sandbox.operation': 'ls',
      'sandbox.session.id': 'sbx_1',
      session_id: 'sbx_1',
    })
  })

  it.each([
    ['running', { alive: false }, { alive: false }],
    ['exec', { exitCode: 0, stdout: planted }, { exit_code: 0, 'process.exit.code': 0 }],
    [
      'resolve_exposed_port',
      { port: 3000, address: '127.0.0.1' },
      { 'server.port': 3000, 'server.address': '127.0.0.1' },
    ],
    [
      'resolve_exposed_port',
      { port: 1, address: 'localhost' },
      { 'server.port': 1, 'server.address': 'localhost' },
    ],
    ['resolve_exposed_port', { port: 1, address: '::1' }, { 'server.port': 1, 'server.address': '::1' }],
    ['resolve_exposed_port', { port: 1, address: `${planted}.tunnel.dev` }, { 'server.port': 1 }],
    ['resolve_exposed_port', { port: 1, address: `127.0.0.1.${planted}` }, { 'server.port': 1 }],
    ['resolve_exposed_port', { port: 1, address: '10.0.0.7' }, { 'server.port': 1 }],
    ['read', { bytes: 9, path: planted, mediaType: planted, stderr: planted }, {}],
  ])('copies for %s from %j only %j', async (op, facts, attributes) => {
    const tracing = startTracing()
    const record = await journal()
    await record.operate(op, {}, () => undefined, { finish: () => facts })
    const span = tracing.span(`sandbox.${op}`)
    expect(span.attributes).toEqual({ ...always, 'sandbox.operation': op, ...attributes })
    expect(JSON.stringify(exported(span))).not.toContain(planted)
  })
})

describe('the span of an operation that failed', () => {
  it.each<[string, unknown, object]>([
    ['an Error', new TypeError(planted), { 'error.type': 'TypeError' }],
    [
      'a system error',
      Object.assign(new Error(`ENOENT: ${planted}`), { code: 'ENOENT', path: planted }),
      { 'error.type': 'Error', error_code: 'ENOENT' },
    ],
    [
      'a VitrineError',
      new VitrineError('not_found', planted, { details: { path: planted }, cause: new Error(planted) }),
      { 'error.type': 'VitrineError', error_code: 'not_found' },
    ],
    ['a text', planted, { 'error.type': 'string' }],
    [
      'an error whose name and code are sentences',
      Object.assign(new Error(planted), { name: `Failed at ${planted}`, code: `exit ${planted}` }),
      { 'error.type': 'Error' },
    ],
    [
      'a time limit',
      new DOMException(planted, 'TimeoutError'),
      { 'error.type': 'TimeoutError', error_code: 'timeout' },
    ],
  ])('has the type and code of %s, never its text', async (_what, thrown, attributes) => {
    const tracing = startTracing()
    const record = await journal()
    await thrownBy(() => record.operate('exec', { argv: [planted] }, () => Promise.reject(thrown)))
    const span = tracing.span('sandbox.exec')
    expect(span.attributes).toEqual({ ...always, ...attributes })
    expect(span.status).toEqual({ code: SpanStatusCode.ERROR })
    expect(span.events).toEqual([])
    expect(JSON.stringify(exported(span))).not.toContain(planted)
  })

  it('is an error when the exit code is not 0, although the call returns', async () => {
    const tracing = startTracing()
    const record = await journal()
    await record.operate('exec', {}, () => undefined, {
      finish: () => ({ exitCode: 3, stdout: planted, stderr: planted }),
    })
    const span = tracing.span('sandbox.exec')
    expect(span.attributes).toEqual({
      ...always,
      exit_code: 3,
      'process.exit.code': 3,
      'error.type': 'ExecNonZeroError',
    })
    expect(span.status).toEqual({ code: SpanStatusCode.ERROR })
    expect(JSON.stringify(exported(span))).not.toContain(planted)
  })

  it.each([
    [{ outcome: 'timeout', exitCode: null }, 'timeout'],
    [{ outcome: 'cancelled', exitCode: null }, 'cancelled'],
    [{ exitCode: null, signal: 'SIGKILL' }, 'failed'],
    [{ exitCode: null }, 'interrupted'],
  ] as const)('has no exit code when the operation ended as %j', async (facts, type) => {
    const tracing = startTracing()
    const record = await journal()
    await record.operate('exec', {}, () => undefined, { finish: () => facts })
    const { attributes, status } = tracing.span('sandbox.exec')
    expect(attributes).toEqual({ ...always, 'error.type': type })
    expect(status.code).toBe(SpanStatusCode.ERROR)
  })

  it('has the code gate_refused when a gate refused', async () => {
    const tracing = startTracing()
    const record = await journal()
    record.gate('policy', () => ({ answer: 'deny', reason: planted }))
    await thrownBy(() => record.operate('exec', {}, () => undefined))
    const span = tracing.span('sandbox.exec')
    expect(span.attributes).toEqual({ ...always, 'error.type': 'VitrineError', error_code: 'gate_refused' })
    expect(JSON.stringify(exported(span))).not.toContain(planted)
  })

  it('is an error when the finish data is malformed', async () => {
    const tracing = startTracing()
    const record = await journal()
    await thrownBy(() => record.operate('exec', {}, () => undefined, { finish: () => ({ bytes: -1 }) }))
    expect(tracing.span('sandbox.exec').attributes).toMatchObject({ error_code: 'event_invalid' })
    expect(tracing.span('sandbox.exec').status.code).toBe(SpanStatusCode.ERROR)
  })

  it('is ended or absent when the operation could not start', async () => {
    const tracing = startTracing()
    const store = await openMemory()
    const record = await store.journal('sbx_a')
    await thrownBy(() => record.operate(`rm -rf /${planted}`, {}, () => undefined))
    expect(tracing.spans()).toEqual([])
    await store.close()
    await thrownBy(() => record.operate('exec', {}, () => undefined))
    expect(tracing.span('sandbox.exec').attributes).toMatchObject({ error_code: 'store_closed' })
  })
})

describe('a tracer that throws', () => {
  const throwing = (when: string) => ({
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
    onStart() {
      if (when === 'onStart') throw new Error('tracer is down')
    },
    onEnd() {
      if (when === 'onEnd') throw new Error('tracer is down')
    },
  })

  it.each(['onStart', 'onEnd'])('does not affect the operation when %s throws', async (when) => {
    startTracing({ processors: [throwing(when)] })
    const record = await journal()
    expect(await record.operate('exec', {}, () => 'done')).toBe('done')
    const { finished } = await onlyOperation(record)
    expect(finished.data.outcome).toBe('ok')
    expect(finished.trace?.traceId).toMatch(/^[0-9a-f]{32}$/)
  })

  it.each(['onStart', 'onEnd'])('is reported as an observer when %s throws', async (when) => {
    startTracing({ processors: [throwing(when)] })
    const reports: unknown[] = []
    const store = await openMemory({ onObserverError: (error, failure) => reports.push({ error, failure }) })
    const record = await store.journal('sbx_a')
    for (const errors of [1, 2]) {
      await record.operate('exec', {}, () => 'done')
      expect(reports).toHaveLength(errors)
      expect(reports.at(-1)).toMatchObject({
        error: { message: 'tracer is down' },
        failure: { observer: 'tracer', errors },
      })
    }
    await record.flush()
    expect((await record.read({ types: ['log.message'] })).events).toMatchObject([
      { data: { level: 'error', observer: 'tracer', errors: 1 } },
    ])
  })
})
