import { describe, expect, test } from 'vitest'
import { type OtlpPartial, otlpSink } from '../../src/sinks/otlp.ts'
import { batch, event, eventOfBytes, gap, going, numbers } from './events.ts'
import { receiver } from './receiver.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const spanId = 'b7ad6b7169203331'

describe('otlpSink', () => {
  test('sends exactly the JSON that a collector expects', async () => {
    const { url, requests } = await receiver()
    const full = event(9_007_199_254_740_991, {
      type: 'operation.finished',
      sandbox: 'sbx_a',
      session: 'ses_a',
      run: 'run_a',
      turn: 'turn_a',
      operation: 'op_a',
      actor: 'someone',
      trace: { traceId, spanId },
      data: { op: 'exec', outcome: 'failed', ok: false },
    })
    await otlpSink({ url, headers: { 'x-tenant': 'a' } }).write(batch([full, event(2)]), going)
    expect(requests).toHaveLength(1)
    expect(requests[0]).toMatchObject({
      method: 'POST',
      url: '/v1/logs',
      headers: { 'content-type': 'application/json', 'x-tenant': 'a', 'idempotency-key': 'key-1' },
    })
    expect(JSON.parse(requests[0]?.body ?? '')).toEqual({
      resourceLogs: [
        {
          resource: { attributes: [{ key: 'service.name', value: { stringValue: 'vitrine' } }] },
          scopeLogs: [
            {
              scope: { name: 'vitrine' },
              logRecords: [
                {
                  timeUnixNano: '1767323045678000000',
                  observedTimeUnixNano: '1767323045678000000',
                  severityNumber: 17,
                  severityText: 'ERROR',
                  eventName: 'operation.finished',
                  body: { stringValue: '{"op":"exec","outcome":"failed","ok":false}' },
                  attributes: [
                    { key: 'event.name', value: { stringValue: 'operation.finished' } },
                    { key: 'vitrine.journal', value: { stringValue: 'sbx_a' } },
                    { key: 'vitrine.seq', value: { intValue: '9007199254740991' } },
                    { key: 'vitrine.source', value: { stringValue: 'engine' } },
                    { key: 'vitrine.sandbox', value: { stringValue: 'sbx_a' } },
                    { key: 'vitrine.session', value: { stringValue: 'ses_a' } },
                    { key: 'vitrine.run', value: { stringValue: 'run_a' } },
                    { key: 'vitrine.turn', value: { stringValue: 'turn_a' } },
                    { key: 'vitrine.operation', value: { stringValue: 'op_a' } },
                    { key: 'vitrine.actor', value: { stringValue: 'someone' } },
                  ],
                  traceId,
                  spanId,
                },
                {
                  timeUnixNano: '1767323045678000000',
                  observedTimeUnixNano: '1767323045678000000',
                  severityNumber: 9,
                  severityText: 'INFO',
                  eventName: 'log.message',
                  body: { stringValue: '{"level":"info","message":"event 2"}' },
                  attributes: [
                    { key: 'event.name', value: { stringValue: 'log.message' } },
                    { key: 'vitrine.journal', value: { stringValue: 'sbx_a' } },
                    { key: 'vitrine.seq', value: { intValue: '2' } },
                    { key: 'vitrine.source', value: { stringValue: 'engine' } },
                  ],
                },
              ],
            },
          ],
        },
      ],
    })
  })

  test.for([
    ['log.message', { level: 'debug', message: '' }, 'DEBUG', 5],
    ['log.message', { level: 'warn', message: '' }, 'WARN', 13],
    ['log.message', { level: 'error', message: '' }, 'ERROR', 17],
    ['log.message', { level: 'toString', message: '' }, 'INFO', 9],
    ['turn.finished', { outcome: 'failed' }, 'ERROR', 17],
    ['run.finished', { outcome: 'timeout' }, 'ERROR', 17],
    ['process.exited', { process: 'p', outcome: 'interrupted' }, 'ERROR', 17],
    ['process.exited', { process: 'p', outcome: 'cancelled' }, 'INFO', 9],
    ['turn.finished', { outcome: 'ok' }, 'INFO', 9],
    ['sandbox.failed', {}, 'ERROR', 17],
    ['sink.failed', { sink: 'a' }, 'ERROR', 17],
    ['watch.degraded', { reason: '' }, 'WARN', 13],
    ['limit.reached', { limit: 'a', max: 1 }, 'WARN', 13],
    ['file.created', { path: 'a', kind: 'file' }, 'INFO', 9],
  ] as const)('gives %s with %o the severity %s', async ([type, data, text, number]) => {
    expect(await recordOf(event(1, { type, data }))).toMatchObject({
      severityText: text,
      severityNumber: number,
    })
  })

  test('sends a gap as a warning without a time and a seq', async () => {
    const record = await recordOf(gap('sbx_a'))
    expect(record).toMatchObject({ severityNumber: 13, eventName: 'journal.gap' })
    expect(record).toHaveProperty('observedTimeUnixNano', expect.stringMatching(/^\d+000000$/))
    expect(record).not.toHaveProperty('timeUnixNano')
    expect(record.attributes).toEqual([
      { key: 'event.name', value: { stringValue: 'journal.gap' } },
      { key: 'vitrine.journal', value: { stringValue: 'sbx_a' } },
    ])
  })

  test('omits trace ids that OpenTelemetry rejects and times that it cannot parse', async () => {
    const zero = await recordOf(event(1, { trace: { traceId: '0'.repeat(32), spanId } }))
    expect(zero).not.toHaveProperty('traceId')
    expect(zero).not.toHaveProperty('spanId')
    const short = await recordOf(event(1, { time: 'yesterday', trace: { traceId, spanId: 'short' } }))
    expect(short).toMatchObject({ traceId })
    expect(short).not.toHaveProperty('spanId')
    expect(short).not.toHaveProperty('timeUnixNano')
  })

  test('sends the configured resource attributes', async () => {
    const { url, requests } = await receiver()
    const resource = { 'service.name': 'ci', 'host.cpus': 4, 'host.load': 0.5, 'host.root': true }
    await otlpSink({ url, resource }).write(batch([event(1)]), going)
    expect(JSON.parse(requests[0]?.body ?? '').resourceLogs[0].resource.attributes).toEqual([
      { key: 'service.name', value: { stringValue: 'ci' } },
      { key: 'host.cpus', value: { intValue: '4' } },
      { key: 'host.load', value: { doubleValue: 0.5 } },
      { key: 'host.root', value: { boolValue: true } },
    ])
  })

  test.for([
    ['', '/v1/logs'],
    ['/', '/v1/logs'],
    ['/otlp/', '/otlp/v1/logs'],
    ['/otlp/v1/logs', '/otlp/v1/logs'],
    ['/v1/logs/', '/v1/logs'],
    ['/otlp?team=a', '/otlp/v1/logs?team=a'],
  ] as const)('posts to the logs of %o at %s', async ([given, posted]) => {
    const { url, requests } = await receiver()
    await otlpSink({ url: `${url}${given}` }).write(batch([event(1)]), going)
    expect(requests[0]?.url).toBe(posted)
  })

  test('rejects a URL that is not HTTP', () => {
    expect(() => otlpSink({ url: 'grpc://localhost:4317' })).toThrow(
      'otlpSink: expected `url` to be an http:',
    )
  })

  test('splits a batch that is too large into several requests of complete records', async () => {
    const { url, requests } = await receiver()
    await otlpSink({ url }).write(batch(numbers(1, 3).map((seq) => eventOfBytes(seq, 4_000_000))), going)
    const counts = requests.map(({ body }) => JSON.parse(body).resourceLogs[0].scopeLogs[0].logRecords.length)
    expect(counts).toEqual([2, 1])
  })
})

describe('a collector', () => {
  test('is reported when it accepted only a part, and the rest is not sent again', async () => {
    const partials: OtlpPartial[] = []
    const { url, requests } = await receiver((response) =>
      response.end('{"partialSuccess":{"rejectedLogRecords":"2","errorMessage":"too old"}}'),
    )
    await otlpSink({ url, onPartial: (info) => partials.push(info) }).write(batch([event(1)]), going)
    expect(partials).toEqual([{ rejected: 2, message: 'too old' }])
    expect(requests).toHaveLength(1)
  })

  test('does not get a batch again when onPartial throws', async () => {
    const { url } = await receiver((response) => response.end('{"partialSuccess":{"rejectedLogRecords":2}}'))
    const fail = () => {
      throw new Error('listener')
    }
    await otlpSink({ url, onPartial: fail }).write(batch([event(1)]), going)
    await otlpSink({ url, onPartial: async () => fail() }).write(batch([event(1)]), going)
  })

  test.for([
    '',
    '{}',
    '{"partialSuccess":{}}',
    '{"partialSuccess":{"rejectedLogRecords":0}}',
    'null',
    '\u0000',
  ])('has accepted everything when it responds with %o', async (body) => {
    const partials: OtlpPartial[] = []
    const { url } = await receiver((response) => response.end(body))
    await otlpSink({ url, onPartial: (info) => partials.push(info) }).write(batch([event(1)]), going)
    expect(partials).toEqual([])
  })

  test('can set the retry delay when it is busy', async () => {
    const { url } = await receiver((response) => response.writeHead(503, { 'retry-after': '3' }).end())
    await expect(otlpSink({ url }).write(batch([event(1)]), going)).rejects.toMatchObject({
      code: 'sink_rejected',
      details: { status: 503, retryAfterMs: 3_000 },
    })
  })
})

async function recordOf(item: Parameters<typeof batch>[0][number]) {
  const { url, requests } = await receiver()
  await otlpSink({ url }).write(batch([item]), going)
  return JSON.parse(requests[0]?.body ?? '').resourceLogs[0].scopeLogs[0].logRecords[0]
}
