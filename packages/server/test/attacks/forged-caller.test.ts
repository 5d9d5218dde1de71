import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allEvents, jsonBody, openDaemon, problemOf, type ResponseJson, type TestDaemon } from '../daemon.ts'
import { dialSocket, refusalOf, terminalPath } from '../sockets/dialling.ts'

const bobsToken = 'bobs-token-41d80f365a2e9b7c'
const carolsToken = 'carols-token-7c41d80f365a2e9b'

let daemon: TestDaemon
beforeAll(async () => {
  daemon = await openDaemon({
    tokens: [
      { name: 'alice', token: 'full-token-8d1f0c6b72a94e53', access: 'full' },
      { name: 'bob', token: bobsToken, access: 'full' },
      { name: 'carol', token: carolsToken, access: 'full' },
    ],
  })
})
afterAll(() => daemon.close())

/** Headers that claim to be alice: the documented one, and spellings that could set the caller. */
const claims = {
  'vitrine-actor': 'alice',
  'vitrine-caller': 'alice',
  'Vitrine-Caller': 'alice',
  vitrine_caller: 'alice',
  caller: 'alice',
  'x-caller': 'alice',
  'x-vitrine-caller': 'alice',
  'x-forwarded-user': 'alice',
  baggage: 'caller=alice',
  tracestate: 'caller=alice',
}

function as(token: string, headers: Record<string, string> = claims) {
  const send = (method: string, path: string, body?: unknown) => {
    const init = body === undefined ? { headers: {} } : jsonBody(body)
    return daemon.fetch(path, {
      method,
      ...init,
      headers: { ...init.headers, ...headers, authorization: `Bearer ${token}` },
    })
  }
  const call = async (method: string, path: string, body?: unknown): Promise<ResponseJson> => {
    const response = await send(method, path, body)
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }
  return { send, call }
}

const bob = as(bobsToken)
const carol = as(carolsToken, {})

async function pending(session: string, kind: 'permissions' | 'questions'): Promise<string> {
  const list = async () => (await daemon.call('GET', `/v1/sessions/${session}`))[kind]
  await expect.poll(async () => (await list()).length).toBe(1)
  return (await list())[0].id
}

async function eventsOf(session: string, types = ''): Promise<ResponseJson[]> {
  return allEvents(daemon, `&session=${session}${types && `&types=${types}`}`)
}

describe('the caller of an event is the name of the token', () => {
  it('on operations, whatever the headers claim', async () => {
    await bob.call('POST', '/v1/exec', { command: 'echo from-bob' })
    const events = (await allEvents(daemon, '&types=operation.*,process.*')).filter(
      ({ caller }) => caller === 'bob',
    )
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining([
        'operation.started',
        'process.started',
        'process.output',
        'process.exited',
        'operation.finished',
      ]),
    )
    for (const event of events) expect(event).toMatchObject({ caller: 'bob', actor: 'alice' })
    const claimed = (await allEvents(daemon)).filter(({ caller }) => caller === 'alice')
    expect(claimed.filter(({ data }) => JSON.stringify(data).includes('from-bob'))).toEqual([])
  })

  it('and the actor is that name too if no header claims another', async () => {
    await carol.call('POST', '/v1/files/mkdir', { path: 'carols' })
    const started = (await allEvents(daemon, '&types=operation.started')).at(-1)
    expect(started).toMatchObject({ caller: 'carol', actor: 'carol', data: { op: 'mkdir' } })
  })

  it('on creating and destroying a sandbox, live or stopped', async () => {
    for (const [id, end] of [
      ['forged-live', []],
      ['forged-stopped', ['stop']],
    ] as const) {
      await bob.call('POST', '/v1/sandboxes', { id, local: { isolation: 'none' } })
      for (const verb of end) await bob.call('POST', `/v1/sandboxes/${id}/${verb}`)
      await carol.call('DELETE', `/v1/sandboxes/${id}`)
      const { events } = await daemon.call('GET', `/v1/sandboxes/${id}/events?limit=1000`)
      const ofOp = (op: string) =>
        events.filter(
          ({ type, data }: ResponseJson) =>
            type === 'sandbox.created' || (type.startsWith('operation.') && data.op === op),
        )
      for (const event of ofOp('start')) expect(event, id).toMatchObject({ caller: 'bob', actor: 'alice' })
      const destroyed = ofOp('destroy').filter(({ type }: ResponseJson) => type !== 'sandbox.created')
      expect(destroyed.length, id).toBe(2)
      for (const event of destroyed) expect(event, id).toMatchObject({ caller: 'carol', actor: 'carol' })
    }
  })

  it('on an installation of an agent', async () => {
    // It is installed already, so nothing is downloaded; the call is recorded all the same.
    const version = '3.0.65'
    const folder = join(daemon.data, 'agents', 'cline', version)
    mkdirSync(folder, { recursive: true })
    const marker = { name: 'cline', version, packages: [], installedAt: new Date().toISOString() }
    writeFileSync(join(folder, 'vitrine-agent.json'), JSON.stringify(marker))
    await bob.call('POST', '/v1/agents/cline/install', {})
    const { events } = await (await daemon.host.store.journal('host')).read({ types: ['agent.installed'] })
    expect(events).toMatchObject([{ caller: 'bob', actor: 'alice', data: { agent: 'cline', version } }])
  })

  it('on a session, its turns, and the answers to its permissions and questions', async () => {
    const { id } = await bob.call('POST', '/v1/sessions', { agent: 'demo', permissions: 'ask' })
    await bob.call('POST', `/v1/sessions/${id}/prompt`, { prompt: '/ask edit', turn: 'turn_of_bob' })
    const permission = await pending(id, 'permissions')
    await carol.call('POST', `/v1/sessions/${id}/permissions/${permission}`, { answer: 'allow_once' })
    await daemon.call('GET', `/v1/sessions/${id}/turns/turn_of_bob?wait=30000`)
    await carol.call('POST', `/v1/sessions/${id}/prompt`, { prompt: '/question', turn: 'turn_of_carol' })
    const question = await pending(id, 'questions')
    await bob.call('POST', `/v1/sessions/${id}/questions/${question}`, { action: 'decline' })
    await daemon.call('GET', `/v1/sessions/${id}/turns/turn_of_carol?wait=30000`)

    const events = await eventsOf(id)
    const of = (type: string, turn?: string) =>
      events.filter((event) => event.type === type && (turn === undefined || event.turn === turn))
    expect(of('session.created')).toMatchObject([{ caller: 'bob', actor: 'alice' }])
    expect(of('turn.started', 'turn_of_bob')).toMatchObject([{ caller: 'bob', actor: 'alice' }])
    expect(of('permission.resolved')).toMatchObject([
      { caller: 'carol', actor: 'carol', data: { by: 'carol' } },
    ])
    expect(of('question.resolved')).toMatchObject([{ caller: 'bob', actor: 'alice', data: { by: 'bob' } }])
    for (const turn of ['turn_of_bob', 'turn_of_carol']) {
      const own = events.filter((event) => event.turn === turn && !event.type.endsWith('.resolved'))
      expect(own.map(({ type }) => type)).toEqual(expect.arrayContaining(['agent.message', 'turn.finished']))
      for (const event of own) expect(event, event.type).toMatchObject({ caller: turn.slice(8) })
    }
  })

  it('on a change, a fork and the close of a session that another token opened', async () => {
    const { id, options } = await bob.call('POST', '/v1/sessions', { agent: 'demo' })
    const mode = options.find(({ id: name }: ResponseJson) => name === 'mode')
    await carol.call('PUT', `/v1/sessions/${id}/mode`, { value: mode.current })
    const updated = (await eventsOf(id, 'session.updated')).at(-1)
    expect(updated).toMatchObject({ caller: 'carol', actor: 'carol' })
    const fork = await carol.call('POST', `/v1/sessions/${id}/fork`, {})
    expect(await eventsOf(fork.id, 'session.created')).toMatchObject([{ caller: 'carol', actor: 'carol' }])
    await carol.call('DELETE', `/v1/sessions/${id}`)
    expect(await eventsOf(id, 'session.closed')).toMatchObject([{ caller: 'carol', actor: 'carol' }])
  })

  it('on a terminal, however the token is sent', async () => {
    const { id } = await carol.call('POST', '/v1/processes', { command: 'cat' })
    const path = terminalPath(id)
    for (const query of ['caller=alice', 'vitrine-caller=alice'])
      expect(await refusalOf(dialSocket(daemon, `${path}?${query}`, { token: bobsToken }))).toMatchObject({
        status: 400,
      })
    const inputs = async () =>
      (await allEvents(daemon, '&types=operation.finished')).filter(({ data }) => data.op === 'process_input')
    for (const [index, way] of (
      [
        { token: bobsToken },
        { protocols: ['vitrine', `vitrine.token.${bobsToken}`] },
        { auth: { type: 'auth', token: bobsToken, caller: 'alice', name: 'alice' } },
      ] as { token?: string; protocols?: string[]; auth?: object }[]
    ).entries()) {
      const { auth, ...options } = way
      const socket = dialSocket(daemon, path, { headers: claims, ...options })
      await socket.opened
      if (auth) socket.sendJson(auth)
      socket.sendJson({ type: 'input', data: 'forged', caller: 'alice' })
      await expect.poll(() => socket.messages.at(-1)?.message).toContain('unknown key "caller"')
      socket.sendJson({ type: 'input', data: `way ${index}\n` })
      await expect.poll(() => socket.output).toContain(`way ${index}`)
      await expect.poll(async () => (await inputs()).length).toBe(index + 1)
      expect((await inputs()).at(-1)).toMatchObject({ caller: 'bob', actor: 'alice' })
      socket.sendJson({ type: 'close' })
      await socket.closed
    }
    await carol.call('POST', `/v1/processes/${id}/kill`)
  })
})

describe('a request body cannot set the caller', () => {
  it.each([
    [
      'recorded events',
      'POST',
      '/v1/events',
      { events: [{ type: 'log.message', caller: 'alice', data: { level: 'info', message: 'x' } }] },
    ],
    ['a command', 'POST', '/v1/exec', { command: 'true', caller: 'alice' }],
    ['a command with a context', 'POST', '/v1/exec', { command: 'true', context: { caller: 'alice' } }],
    ['a sandbox', 'POST', '/v1/sandboxes', { caller: 'alice' }],
    ['a sandbox with a context', 'POST', '/v1/sandboxes', { context: { caller: 'alice' } }],
    ['a session', 'POST', '/v1/sessions', { agent: 'demo', caller: 'alice' }],
    ['a session with a context', 'POST', '/v1/sessions', { agent: 'demo', context: { caller: 'alice' } }],
    ['a prompt', 'POST', '/v1/sessions/forged/prompt', { prompt: 'x', caller: 'alice' }],
    ['an answer', 'POST', '/v1/sessions/forged/permissions/x', { answer: 'allow_once', caller: 'alice' }],
    [
      'an answer by another',
      'POST',
      '/v1/sessions/forged/permissions/x',
      { answer: 'allow_once', by: 'alice' },
    ],
    [
      'an answer to a question',
      'POST',
      '/v1/sessions/forged/questions/x',
      { action: 'accept', caller: 'alice' },
    ],
    ['a fork', 'POST', '/v1/sessions/forged/fork', { context: { caller: 'alice' } }],
  ])('of %s', async (_name, method, path, body) => {
    if (path.includes('/forged/'))
      await bob.call('POST', '/v1/sessions', { agent: 'demo', id: 'forged', resume: true })
    const problem = await problemOf(await bob.send(method, path, body))
    expect(problem.status).toBe(path === '/v1/events' ? 422 : 400)
    expect(problem.detail).toMatch(/caller|context|by\b/)
  })

  it('and a recorded event has the caller of the call', async () => {
    const event = { type: 'log.message', data: { level: 'info', message: 'recorded by bob' } }
    await bob.call('POST', '/v1/events', { events: [{ ...event, actor: 'dave' }] })
    const [recorded] = (await allEvents(daemon, '&types=log.message')).filter(
      ({ data }) => data.message === event.data.message,
    )
    expect(recorded).toMatchObject({ caller: 'bob', actor: 'dave' })
  })
})
