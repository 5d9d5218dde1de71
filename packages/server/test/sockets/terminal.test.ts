import { renameSync, rmSync } from 'node:fs'
import { basename } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { dataFolder, openDaemon, type TestDaemon, token } from '../daemon.ts'
import { dial } from '../raw.ts'
import { type Dialled, dialSocket, terminalPath } from './dialling.ts'

let daemon: TestDaemon
beforeAll(async () => {
  daemon = await openDaemon()
})
afterAll(async () => {
  expect((await daemon.fetch('/v1/health')).status).toBe(200)
  await daemon.close()
})

async function spawn(body: object): Promise<{ id: string; socket: Dialled }> {
  const { id } = await daemon.call('POST', '/v1/processes', body)
  return { id, socket: dialSocket(daemon, terminalPath(id, daemon.sandbox), { token }) }
}

describe('a terminal', () => {
  it('sends output as bytes, accepts input and resizes, and reports the exit', async () => {
    const { socket } = await spawn({
      command:
        'stty -echo; stty size; while read line; do stty size; echo "got $line"; test "$line" = bye && exit 3; done',
      shell: true,
      tty: { cols: 90, rows: 20 },
    })
    await expect.poll(() => socket.output).toContain('20 90')
    socket.sendJson({ type: 'resize', cols: 120, rows: 40 })
    socket.sendJson({ type: 'input', data: 'one\n' })
    await expect.poll(() => socket.output).toContain('got one')
    expect(socket.output).toContain('40 120')
    socket.sendJson({ type: 'input', data: Buffer.from('two\n').toString('base64'), encoding: 'base64' })
    await expect.poll(() => socket.output).toContain('got two')
    socket.socket.send(Buffer.from('bye\n'))
    expect((await socket.closed).code).toBe(1000)
    expect(socket.messages.at(-1)).toMatchObject({ type: 'exit', exitCode: 3, outcome: 'failed' })
  })

  it('handles messages that were sent before it was ready', async () => {
    const { id } = await daemon.call('POST', '/v1/processes', { command: 'cat' })
    const socket = dialSocket(daemon, terminalPath(id))
    await socket.opened
    socket.sendJson({ type: 'auth', token })
    socket.sendJson({ type: 'input', data: 'early\n' })
    await expect.poll(() => socket.output).toContain('early')
    socket.sendJson({ type: 'close' })
    expect((await socket.closed).code).toBe(1000)
  })

  it('may be closed and reopened while the process keeps running', async () => {
    const { id, socket } = await spawn({ command: 'cat', tty: true })
    await expect.poll(() => socket.messages[0]?.type).toBe('ready')
    socket.sendJson({ type: 'input', data: 'remember\n' })
    await expect.poll(() => socket.output).toContain('remember')
    socket.sendJson({ type: 'close' })
    await socket.closed
    const again = dialSocket(daemon, terminalPath(id), { token })
    await expect.poll(() => again.output).toContain('remember')
    expect(await daemon.call('GET', `/v1/processes/${id}`)).toMatchObject({ state: 'running' })
    again.socket.close()
    await daemon.call('POST', `/v1/processes/${id}/kill`)
  })

  it('responds to malformed messages with an error, and stays open', async () => {
    const { socket } = await spawn({ command: 'cat', tty: true })
    await expect.poll(() => socket.messages[0]?.type).toBe('ready')
    for (const nonsense of [
      '',
      '{',
      '[]',
      'null',
      '7',
      '{"type":"launch"}',
      '{"type":"input","data":7}',
      '{"type":"resize","cols":-1,"rows":0}',
      '{"type":"resize","cols":1e99,"rows":1}',
    ])
      socket.sendJson(nonsense)
    const errors = () => socket.messages.filter(({ type }) => type === 'error')
    await expect.poll(() => errors().length).toBe(9)
    for (const { message } of errors()) expect(message).toMatch(/^message/)
    socket.sendJson({ type: 'input', data: 'still here\n' })
    await expect.poll(() => socket.output).toContain('still here')
    socket.socket.close()
  })

  it('a terminal of an unknown process ends with an error', async () => {
    const socket = dialSocket(daemon, terminalPath('nobody'), { token })
    expect((await socket.closed).code).toBe(1011)
    expect(socket.messages).toMatchObject([{ type: 'error', code: 'not_found' }])
  })

  it('a terminal of an unknown sandbox is closed, also when its name is long', async () => {
    const socket = dialSocket(daemon, terminalPath('p', 'x'.repeat(120)), { token })
    expect((await socket.closed).code).toBe(1011)
  })

  it('is closed, and the daemon is not, when the close reason has multi-byte characters', async () => {
    const plain = dataFolder()
    const data = `${plain}-${'é'.repeat(60)}`
    renameSync(plain, data)
    onTestFinished(() => rmSync(data, { recursive: true, force: true }))
    const defaultSandbox = { id: basename(plain), local: { isolation: 'none' as const } }
    await using other = await openDaemon({ data, defaultSandbox })
    const socket = dialSocket(other, terminalPath('p', 'nobody'), { token })
    expect((await socket.closed).code).toBe(1011)
    expect((await other.fetch('/v1/health')).status).toBe(200)
  })

  it('ends with the daemon, with the close code for going away', async () => {
    const closing = await openDaemon()
    const { id } = await closing.call('POST', '/v1/processes', { command: 'cat', tty: true })
    const socket = dialSocket(closing, terminalPath(id), { token })
    await expect.poll(() => socket.messages[0]?.type).toBe('ready')
    await closing.listening.close()
    expect((await socket.closed).code).toBe(1001)
    await closing.close()
  })
})

describe('a frame', () => {
  const masked = (first: number, payload: Buffer, length = payload.length) =>
    Buffer.concat([
      length < 126
        ? Buffer.from([first, 0x80 | length])
        : Buffer.from([first, 0x80 | 127, 0, 0, 0, 0, ...[24, 16, 8, 0].map((by) => (length >>> by) & 0xff)]),
      Buffer.alloc(4),
      payload,
    ])

  it.each([
    ['without a mask', Buffer.from([0x81, 2, 0x7b, 0x7d]), 1002],
    ['with reserved bits', masked(0xf1, Buffer.from('{}')), 1002],
    ['with an opcode that is none', masked(0x83, Buffer.from('{}')), 1002],
    ['that goes on from nothing', masked(0x80, Buffer.from('{}')), 1002],
    ['of control that is too long', masked(0x89, Buffer.alloc(200)), 1002],
    ['that is no UTF-8', masked(0x81, Buffer.from([0xff, 0xfe])), 1007],
    ['that is larger than a message may be', masked(0x82, Buffer.alloc(0), 0x7fff_ffff), 1009],
    ['that is larger, and all there', masked(0x82, Buffer.alloc(2 * 1024 * 1024)), 1009],
  ])(
    'a frame that is %s closes the connection with its code, and the daemon keeps running',
    async (_what, frame, code) => {
      const { id } = await daemon.call('POST', '/v1/processes', { command: 'cat' })
      using connection = await dial(
        daemon.port,
        `GET ${terminalPath(id)} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: ${btoa('0123456789abcdef')}\r\n\r\n`,
      )
      await expect.poll(() => connection.text).toContain('"ready"')
      connection.socket.write(frame)
      // A server's frame of closing: 0x88, its length, the code.
      const sent = `\u0088\u0002${String.fromCharCode(code >> 8, code & 0xff)}`
      await expect.poll(() => connection.text.includes(sent)).toBe(true)
      connection.socket.end()
      await connection.ended
      expect(await daemon.call('GET', `/v1/processes/${id}`)).toMatchObject({ state: 'running' })
      await daemon.call('POST', `/v1/processes/${id}/kill`)
    },
  )
})
