import { describe, expect, it, vi } from 'vitest'
import { HttpResponse } from '../src/http/http-response.ts'
import { type ListenOptions, listen, type Server } from '../src/index.ts'
import { bearer, type ResponseJson as Given, openDaemon, token } from './daemon.ts'
import { dial, readResponse } from './raw.ts'

/** Listens on a port with another handler. */
function serve(response: Server['respond'], options: ListenOptions = {}) {
  const upgrade: Server['upgrade'] = (_request, socket) => void socket.destroy()
  const fetch = () => Promise.reject(new Error('It is not asked that way.'))
  return listen({ respond: response, fetch, upgrade, close: () => undefined }, options)
}

const head = `host: localhost\r\nauthorization: Bearer ${token}`

describe('a response that fails half-way', () => {
  it.each([
    ['at once', 0, 'soon'],
    ['after a chunk', 1, 'soon'],
    ['after many', 50, 'soon'],
    ['before anybody waited', 0, 'now'],
    ['with a chunk', 1, 'now'],
    ['with two chunks', 2, 'now'],
    ['with many', 50, 'now'],
  ])('is cut and never looks complete: %s', async (_when, chunks, when) => {
    const logged = vi.spyOn(console, 'error').mockReturnValue()
    await using port = await serve(async () => {
      let given = 0
      const body = new ReadableStream<Uint8Array>({
        async pull(controller) {
          if (when === 'soon') await new Promise(setImmediate)
          if (given++ === chunks) controller.error(new Error('a secret of the host'))
          else controller.enqueue(Buffer.from('some bytes '))
        },
      })
      return new HttpResponse(200, { 'content-type': 'application/octet-stream' }, body)
    })
    using connection = await dial(port.port, `GET / HTTP/1.1\r\nhost: localhost\r\n\r\n`)
    const text = await connection.ended
    expect(text).not.toContain('secret')
    expect(text).not.toMatch(/\r\n0\r\n\r\n$/)
    const whole = await fetch(port.url)
      .then((response) => response.text())
      .catch(() => 'cut')
    expect(whole).toBe('cut')
    expect(logged).not.toHaveBeenCalled()
    logged.mockRestore()
  })
})

describe('a caller', () => {
  it('a caller that pauses within a body is disconnected', async () => {
    await using daemon = await openDaemon({ listen: { bodyIdleMs: 200 } })
    using connection = await dial(
      daemon.port,
      `POST /v1/exec HTTP/1.1\r\n${head}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"comm`,
    )
    await connection.ended
    expect((await daemon.fetch('/v1/health')).status).toBe(200)
  })

  it('a caller that sends slowly without pausing is served', async () => {
    await using daemon = await openDaemon({ listen: { bodyIdleMs: 400 } })
    const body = '{"command":"echo slow"}'
    using connection = await dial(
      daemon.port,
      `POST /v1/exec HTTP/1.1\r\n${head}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n`,
    )
    for (const letter of body) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      connection.socket.write(letter)
    }
    expect(readResponse(await connection.ended).body).toContain('slow\\n')
  })

  it('may wait for its response longer than it may pause', async () => {
    await using daemon = await openDaemon({ listen: { bodyIdleMs: 100 } })
    const page = await daemon.call('GET', '/v1/events?limit=10000')
    const after = encodeURIComponent(page.cursor)
    expect(await daemon.call('GET', `/v1/events?wait=700&after=${after}`)).toMatchObject({ events: [] })
    expect(await daemon.call('POST', '/v1/exec', { command: 'sleep 0.7; echo late' })).toMatchObject({
      stdout: 'late\n',
    })
  })

  it('is not disconnected because a command reads its input late', async () => {
    await using daemon = await openDaemon({ listen: { bodyIdleMs: 100 } })
    const options = encodeURIComponent(JSON.stringify({ command: 'sleep 0.7; wc -c' }))
    const response = await daemon.fetch(`/v1/exec/input?options=${options}`, {
      method: 'POST',
      body: new Uint8Array(8 * 1024 * 1024),
    })
    expect(((await response.json()) as Given).stdout.trim()).toBe(String(8 * 1024 * 1024))
  })

  it('may reuse its connection', async () => {
    await using daemon = await openDaemon()
    using connection = await dial(daemon.port)
    for (let count = 1; count <= 3; count += 1) {
      connection.socket.write(`GET /v1/health HTTP/1.1\r\n${head}\r\n\r\n`)
      await expect.poll(() => connection.text.match(/"status":"ok"/g)?.length).toBe(count)
    }
  })
})

describe('a response', () => {
  it('a response that cannot be sent closes only its own connection', async () => {
    const bad = { 'x-own': 'one\r\nset-cookie: two' }
    await using port = await serve(
      async ({ path }) => new HttpResponse(200, path === '/bad' ? bad : {}, 'whole'),
    )
    using connection = await dial(port.port, 'GET /bad HTTP/1.1\r\nhost: localhost\r\n\r\n')
    expect(await connection.ended).toBe('')
    expect(await (await fetch(port.url)).text()).toBe('whole')
  })

  it('a response that is ready after the client disconnected is discarded', async () => {
    const [asked, left, release] = [0, 0, 0].map(() => Promise.withResolvers<void>())
    await using port = await serve(async ({ signal }) => {
      asked!.resolve()
      signal.addEventListener('abort', () => left!.resolve())
      await left!.promise
      return new HttpResponse(200, {}, new ReadableStream({ cancel: () => release!.resolve() }))
    })
    using connection = await dial(port.port, 'GET / HTTP/1.1\r\nhost: localhost\r\n\r\n')
    await asked!.promise
    connection.socket.destroy()
    await release!.promise
  })
})

describe('a port', () => {
  it('reports a port that is in use', async () => {
    await using daemon = await openDaemon()
    await expect(
      serve(async () => new HttpResponse(204, {}, null), { port: daemon.port }),
    ).rejects.toMatchObject({
      code: 'argument_invalid',
      message: expect.stringContaining('the port is in use'),
    })
  })

  it('is closed once, with all its connections', async () => {
    const daemon = await openDaemon()
    using half = await dial(daemon.port, 'GET /v1/hea')
    await Promise.all([daemon.listening.close(), daemon.listening.close()])
    await half.ended
    await expect(fetch(daemon.url, { headers: bearer(token) })).rejects.toThrow()
    await daemon.close()
  })
})
