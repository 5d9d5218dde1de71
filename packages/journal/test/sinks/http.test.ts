import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { inspect } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { httpSink } from '../../src/sinks/http.ts'
import { thrownBy } from '../fixtures/until.ts'
import { batch, event, eventOfBytes, gap, going, numbers } from './events.ts'
import { type ReceiverResponse, receiver } from './receiver.ts'

describe('httpSink', () => {
  test('posts the batch as lines of JSON with its key', async () => {
    const { url, requests } = await receiver()
    const events = [event(1), gap('sbx_a'), event(2, { data: { level: 'info', message: 'ü\n' } })]
    await httpSink({ url: `${url}/ingest?team=a`, headers: { 'X-Team': 'a' } }).write(
      batch(events, 'k'),
      going,
    )
    expect(requests).toMatchObject([
      {
        method: 'POST',
        url: '/ingest?team=a',
        headers: { 'content-type': 'application/x-ndjson', 'idempotency-key': 'k', 'x-team': 'a' },
        body: events.map((one) => `${JSON.stringify(one)}\n`).join(''),
      },
    ])
  })

  test('declares its batch size', () => {
    expect(httpSink({ url: 'http://localhost' }).batchEvents).toBe(500)
    expect(httpSink({ url: 'http://localhost', batchEvents: 7 }).batchEvents).toBe(7)
  })

  test('sends the same key and body when a batch is retried', async () => {
    const { url, requests } = await receiver(statuses(500, 204))
    const sink = httpSink({ url })
    const error = await thrownBy(() => sink.write(batch([event(1)], 'again'), going))
    expect(error).toMatchObject({
      code: 'sink_rejected',
      message: `Expected a 2xx response from ${url}, got 500.`,
      details: { status: 500 },
    })
    await sink.write(batch([event(1)], 'again'), going)
    expect(requests.map(({ headers }) => headers['idempotency-key'])).toEqual(['again', 'again'])
    expect(requests[1]?.body).toBe(requests[0]?.body)
  })

  test('encodes a key in any script as visible ASCII', async () => {
    const { url, requests } = await receiver()
    await httpSink({ url }).write(batch([event(1)], 'журнал 1\n\ud800'), going)
    expect(requests[0]?.headers['idempotency-key']).toBe(encodeURIComponent('журнал 1\n\ufffd'))
  })

  test('reuses its connections', async () => {
    const sockets = new Set<unknown>()
    const { url } = await receiver((response) => {
      sockets.add(response.socket)
      response.end('thank you')
    })
    const sink = httpSink({ url })
    for (const seq of numbers(1, 20)) await sink.write(batch([event(seq)], `key-${seq}`), going)
    expect(sockets.size).toBeLessThan(10)
  })

  test('reads only the beginning of an endless response', async () => {
    const { url } = await receiver((response) => {
      const more = () => {
        while (response.write('x'.repeat(10_000)));
      }
      response.on('drain', more)
      more()
    })
    await httpSink({ url }).write(batch([event(1)]), going)
  })
})

describe('a batch over the size of a body', () => {
  test('becomes several requests with their own keys', async () => {
    const { url, requests } = await receiver()
    const events = numbers(1, 5).map((seq) => eventOfBytes(seq, 400))
    await httpSink({ url, maxBodyBytes: 800 }).write(batch(events, 'k'), going)
    expect(requests.map(({ headers }) => headers['idempotency-key'])).toEqual(['k.1', 'k.2', 'k.3'])
    expect(requests.map(({ body }) => body.length)).toEqual([800, 800, 400])
    expect(requests.flatMap(({ body }) => seqs(body))).toEqual(numbers(1, 5))
  })

  test('sends a larger event in its own request', async () => {
    const { url, requests } = await receiver()
    const events = [eventOfBytes(1, 400), eventOfBytes(2, 5_000), eventOfBytes(3, 400)]
    await httpSink({ url, maxBodyBytes: 800 }).write(batch(events, 'k'), going)
    expect(requests.map(({ body }) => seqs(body))).toEqual([[1], [2], [3]])
  })

  test('resumes at the failed request when it is retried', async () => {
    const { url, requests } = await receiver(statuses(200, 503, 200, 200))
    const sink = httpSink({ url, maxBodyBytes: 400 })
    const events = numbers(1, 3).map((seq) => eventOfBytes(seq, 400))
    await thrownBy(() => sink.write(batch(events, 'k'), going))
    await sink.write(batch(events, 'k'), going)
    expect(requests.map(({ headers }) => headers['idempotency-key'])).toEqual(['k.1', 'k.2', 'k.2', 'k.3'])
  })
})

describe('Retry-After', () => {
  const rejection = async (value: string) => {
    const { url } = await receiver((response) => response.writeHead(429, { 'retry-after': value }).end())
    return thrownBy(() => httpSink({ url }).write(batch([event(1)]), going))
  }

  test('sets the milliseconds on the error when it is in seconds', async () => {
    expect(await rejection('120')).toMatchObject({ details: { status: 429, retryAfterMs: 120_000 } })
  })

  test('sets the time until then on the error when it is a date', async () => {
    const error = await rejection(new Date(Date.now() + 3_600_000).toUTCString())
    const { retryAfterMs } = (error as { details: { retryAfterMs: number } }).details
    expect(retryAfterMs).toBeGreaterThan(0)
    expect(retryAfterMs).toBeLessThanOrEqual(3_600_000)
  })

  test('is limited to between zero and one day', async () => {
    expect(await rejection(new Date(0).toUTCString())).toMatchObject({ details: { retryAfterMs: 0 } })
    expect(await rejection('99999999999')).toMatchObject({ details: { retryAfterMs: 86_400_000 } })
  })

  test('is ignored when it is malformed', async () => {
    expect(await rejection('soon')).toMatchObject({ code: 'sink_rejected', details: { status: 429 } })
    expect(await rejection('soon')).not.toHaveProperty('details.retryAfterMs')
  })
})

describe('a receiver that misbehaves', () => {
  test('fails with a timeout when it never responds', async () => {
    const { url } = await receiver(() => undefined)
    const error = await thrownBy(() => httpSink({ url, timeoutMs: 50 }).write(batch([event(1)]), going))
    expect(error).toMatchObject({
      code: 'timeout',
      message: `Expected a response from ${url} within 50 ms, got none or an incomplete one.`,
    })
  })

  test('fails with a timeout when its response never ends', async () => {
    const { url } = await receiver((response) => void response.write('well'))
    const error = await thrownBy(() => httpSink({ url, timeoutMs: 50 }).write(batch([event(1)]), going))
    expect(error).toMatchObject({ code: 'timeout' })
  })

  test('fails when it redirects, because redirects are not followed', async () => {
    const elsewhere = await receiver()
    const { url } = await receiver((response) => response.writeHead(307, { location: elsewhere.url }).end())
    const error = await thrownBy(() => httpSink({ url }).write(batch([event(1)]), going))
    expect(error).toMatchObject({
      code: 'sink_rejected',
      message: expect.stringContaining('got 307. Redirects are not followed'),
      details: { status: 307 },
    })
    expect(elsewhere.requests).toEqual([])
  })

  test('fails when it closes the connection before a response', async () => {
    const url = await tcpServer((socket) => socket.once('data', () => socket.end('HTTP/1.1 200 O')))
    const error = await thrownBy(() => httpSink({ url }).write(batch([event(1)]), going))
    expect(error).toMatchObject({ code: 'sink_unwritable', cause: expect.any(Error) })
  })

  test('fails when it closes the connection in the middle of its response, which confirms nothing', async () => {
    const url = await tcpServer((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf')),
    )
    const error = await thrownBy(() => httpSink({ url }).write(batch([event(1)]), going))
    expect(error).toMatchObject({ code: 'sink_unwritable' })
  })

  test('fails with the system error code when nothing listens', async () => {
    const closedServer = createServer()
    await new Promise<void>((listening) => closedServer.listen(0, '127.0.0.1', listening))
    const { port } = closedServer.address() as AddressInfo
    await new Promise((closed) => closedServer.close(closed))
    const url = `http://127.0.0.1:${port}`
    const error = await thrownBy(() => httpSink({ url }).write(batch([event(1)]), going))
    expect(error).toMatchObject({
      code: 'sink_unwritable',
      message: `Expected a response from ${url}, got ECONNREFUSED.`,
      details: { systemCode: 'ECONNREFUSED' },
    })
  })
})

describe('the signal', () => {
  test('aborts a running request with its own reason', async () => {
    const stop = new AbortController()
    const { url } = await receiver(() => stop.abort(new Error('closing')))
    const write = httpSink({ url }).write(batch([event(1)]), { signal: stop.signal })
    await expect(write).rejects.toThrow('closing')
  })

  test('prevents the request when it is already aborted', async () => {
    const { url, requests } = await receiver()
    const signal = AbortSignal.abort(new Error('closing'))
    await expect(httpSink({ url }).write(batch([event(1)]), { signal })).rejects.toThrow('closing')
    expect(requests).toEqual([])
  })
})

describe('secrets', () => {
  test('do not appear in errors when they are in headers, credentials, path or query', async () => {
    const { port, requests } = await receiver(statuses(401))
    const sink = httpSink({
      url: `http://name-s3cret:pass-s3cret@127.0.0.1:${port}/path-s3cret?token=query-s3cret#s3cret`,
      headers: { 'x-api-key': 'header-s3cret' },
    })
    const error = await thrownBy(() => sink.write(batch([event(1)]), going))
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('s3cret')
    expect(requests[0]?.headers['x-api-key']).toBe('header-s3cret')
  })

  test('do not appear in connection errors', async () => {
    const url = await tcpServer((socket) => socket.destroy())
    const sink = httpSink({ url: `${url}/path-s3cret?q=s3cret`, headers: { authorization: 's3cret' } })
    const error = await thrownBy(() => sink.write(batch([event(1)]), going))
    expect(error).toMatchObject({ code: 'sink_unwritable' })
    expect(String((error as Error).stack)).not.toContain('s3cret')
    expect(inspect(error, { depth: 9 })).not.toContain('s3cret')
  })

  test('do not appear in argument errors', async () => {
    const wrong = [
      () => httpSink({ url: 'ftp://name:s3cret@host/s3cret' }),
      () => httpSink({ url: 's3cret' }),
      () => httpSink({ url: 'http://host', headers: { 'x-api-key': 's3cret\n!' } }),
    ]
    for (const make of wrong) {
      const error = await thrownBy(make)
      expect(error).toMatchObject({ code: 'argument_invalid' })
      expect(inspect(error, { depth: 9 })).not.toContain('s3cret')
    }
  })

  test('are sent as basic credentials when they are in the URL, unless a header overrides them', async () => {
    const { port, requests } = await receiver()
    const url = `http://na%C3%AFve:p%25%40s%zz@127.0.0.1:${port}/`
    await httpSink({ url }).write(batch([event(1)]), going)
    await httpSink({ url, headers: { Authorization: 'Bearer t' } }).write(batch([event(1)]), going)
    expect(requests.map(({ headers }) => headers.authorization)).toEqual([
      `Basic ${Buffer.from('naïve:p%@s%zz').toString('base64')}`,
      'Bearer t',
    ])
  })
})

test('httpSink rejects invalid options', () => {
  const url = 'http://localhost'
  expect(() => httpSink({ url: 'file:///etc/passwd' })).toThrow(
    'to be an http: or https: URL, got the protocol file:',
  )
  expect(() => httpSink({ url, batchEvents: 0 })).toThrow('batchEvents: expected a whole number')
  expect(() => httpSink({ url, maxBodyBytes: 0.5 })).toThrow('maxBodyBytes: expected a whole number')
  expect(() => httpSink({ url, timeoutMs: 2 ** 31 })).toThrow('timeoutMs: expected a whole number')
})

/** Responds to the first request with the first status, and so on; the last status repeats. */
function statuses(...codes: number[]): ReceiverResponse {
  return (response, index) => void response.writeHead(codes[index] ?? codes.at(-1) ?? 200).end()
}

function seqs(body: string): number[] {
  return body
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line).seq)
}

async function tcpServer(serve: (socket: Socket) => void): Promise<string> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined)
    serve(socket)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
