import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDaemon, readToken, type TestDaemon, token } from '../daemon.ts'
import { dialSocket, refusalOf, terminalPath } from './dialling.ts'

const app = 'https://app.example.com'
let daemon: TestDaemon
let path: string
beforeAll(async () => {
  daemon = await openDaemon({ cors: [app] })
  const { id } = await daemon.call('POST', '/v1/processes', { command: 'cat', tty: true })
  path = terminalPath(id)
})
afterAll(() => daemon.close())

const ready = async (socket: ReturnType<typeof dialSocket>) => {
  await expect.poll(() => socket.messages[0]?.type).toBe('ready')
  socket.socket.close()
  await socket.closed
}

describe('an upgrade', () => {
  it.each(['https://evil.example', 'null', 'http://localhost:1'])(
    'an upgrade of a page of %s is refused, even with a valid token',
    async (origin) => {
      const { status, problem } = await refusalOf(dialSocket(daemon, path, { origin, token }))
      expect({ status, code: problem.code }).toEqual({ status: 403, code: 'origin_refused' })
    },
  )

  it('an upgrade of a page of the daemon or of an allowed origin is accepted', async () => {
    for (const origin of [daemon.url, app]) await ready(dialSocket(daemon, path, { origin, token }))
  })

  it('an upgrade with another Host header is refused', async () => {
    const { status, problem } = await refusalOf(
      dialSocket(daemon, path, { headers: { host: 'evil.example' }, token }),
    )
    expect({ status, code: problem.code }).toEqual({ status: 421, code: 'host_refused' })
  })

  it('an upgrade to an unknown route is refused', async () => {
    for (const nowhere of ['/', '/v1/events', '/v1/processes/x/terminal', '/v1/exec', '/%00', '//']) {
      const { status, problem } = await refusalOf(dialSocket(daemon, nowhere, { token }))
      expect({ status, hint: typeof problem.hint }).toEqual({ status: 404, hint: 'string' })
    }
  })

  it('an upgrade with an unknown query parameter is refused', async () => {
    const { status, problem } = await refusalOf(dialSocket(daemon, `${path}?acces_token=x`, { token }))
    expect(status).toBe(400)
    expect(problem.detail).toContain('access_token')
  })

  it('accepts a token in the header, in a subprotocol, in the query and as the first message', async () => {
    await ready(dialSocket(daemon, path, { token }))
    const named = dialSocket(daemon, path, { protocols: ['vitrine', `vitrine.token.${token}`] })
    await ready(named)
    expect(named.socket.protocol).toBe('vitrine')
    await ready(dialSocket(daemon, `${path}?access_token=${token}`))
    const introduced = dialSocket(daemon, path)
    await introduced.opened
    introduced.sendJson({ type: 'auth', token })
    await ready(introduced)
  })

  it('an upgrade with a wrong or a read-only token is refused at once', async () => {
    for (const [options, query] of [
      [{ token: 'wrong-token-0000' }, ''],
      [{ protocols: ['vitrine', 'vitrine.token.wrong-token-0000'] }, ''],
      [{}, '?access_token=wrong-token-0000'],
    ] as const) {
      const one = dialSocket(daemon, `${path}${query}`, {
        ...options,
        protocols: [...(options.protocols ?? [])],
      })
      expect((await refusalOf(one)).status).toBe(401)
    }
    expect((await refusalOf(dialSocket(daemon, path, { token: readToken }))).status).toBe(403)
    expect((await refusalOf(dialSocket(daemon, `${path}?access_token=${readToken}`))).status).toBe(403)
  })

  it.each([
    ['input', { type: 'input', data: 'id\n' }],
    ['a wrong token', { type: 'auth', token: 'wrong-token-0000' }],
    ['a read-only token', { type: 'auth', token: readToken }],
    ['a token that is no text', { type: 'auth', token: [token] }],
    ['no JSON', 'hello'],
    ['nothing of use', null],
  ])(
    'an upgrade without a token is closed with 4401 when its first message is %s',
    async (_what, message) => {
      const socket = dialSocket(daemon, path)
      await socket.opened
      socket.sendJson(message)
      const { code, reason } = await socket.closed
      expect(code).toBe(4401)
      expect(reason).not.toContain(readToken)
      expect(socket.messages).toEqual([])
    },
  )

  it('needs no token where anonymous access is allowed', async () => {
    await using open = await openDaemon({ allowAnonymous: true })
    const { id } = await open.call('POST', '/v1/processes', { command: 'cat' })
    const socket = dialSocket(open, terminalPath(id))
    await socket.opened
    socket.sendJson({ type: 'input', data: 'first words\n' })
    await expect.poll(() => socket.output).toBe('first words\n')
    socket.socket.close()
    const wrong = await refusalOf(dialSocket(open, terminalPath(id), { token: 'wrong-token-0000' }))
    expect(wrong.status).toBe(401)
  })

  it('an upgrade without a token receives nothing', async () => {
    await using hurried = await openDaemon({ limits: { tokenMs: 50 } })
    const { id } = await hurried.call('POST', '/v1/processes', {
      command: 'sh',
      args: ['-c', 'echo secret; exec sleep 600'],
    })
    const socket = dialSocket(hurried, terminalPath(id))
    await socket.opened
    expect((await socket.closed).code).toBe(4401)
    expect(socket.messages).toEqual([])
    expect(socket.output).toBe('')
  })

  it('is required: a plain request gets an error', async () => {
    const response = await daemon.fetch(path)
    expect(await response.json()).toMatchObject({ status: 400, detail: expect.stringContaining('WebSocket') })
  })
})
