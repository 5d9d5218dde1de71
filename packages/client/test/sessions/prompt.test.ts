import { expect, it } from 'vitest'
import { type Exchange, newScene } from '../fixture.ts'
import { event, heartbeat, openStream } from '../journal/event-server.ts'

const state = {
  id: 'ses_1',
  agent: 'demo',
  state: 'open',
  createdAt: '2026-01-01T00:00:00.000Z',
  cwd: '/workspace',
  turns: 0,
  busy: false,
  options: [],
  permissions: [],
  questions: [],
}
const permission = { id: 'perm_1', toolCall: {}, options: [] }

/** Attempts follow at once; the watch is given the time it needs. */
const sleep = (milliseconds: number) =>
  new Promise<void>((resolve) => setTimeout(resolve, milliseconds === 5_000 ? milliseconds : 1))

type ExchangeHandler = (exchange: Exchange) => unknown

/** A daemon with one idle session; requests that a test does not handle get its default responses. */
async function newSession(handlers: Readonly<Record<string, ExchangeHandler>>) {
  const scene = await newScene(
    (exchange) => {
      const name = exchange.line.replace('/v1/sandboxes/sbx_1', '').replace(/turn_\w+/, '{turn}')
      const handler = handlers[name] ?? quiet[name]
      return handler === undefined ? exchange.problem('route_unknown', 404) : handler(exchange)
    },
    { sleep },
  )
  return { ...scene, session: await scene.sandbox.openSession({ agent: 'demo' }) }
}

const quiet: Readonly<Record<string, ExchangeHandler>> = {
  'POST /sessions': ({ json }) => json(state, 201),
  'GET /sessions/ses_1': ({ json }) => json(state),
  'GET /events': (exchange) => openStream(exchange).write(heartbeat('c1')),
  'POST /sessions/ses_1/prompt': ({ json }) => json({ turn: 'x' }, 202),
  'GET /sessions/ses_1/turns/{turn}': ({ json }) =>
    json({ turn: 't', outcome: 'ok', stopReason: 'end_turn' }),
}

it('waits for its turn’s end over failing connections, and starts one turn only', async () => {
  const turns: string[] = []
  let requested = 0
  const { session } = await newSession({
    'POST /sessions/ses_1/prompt': async ({ body, request, json }) => {
      const { turn, prompt } = JSON.parse((await body()).toString())
      expect(prompt).toBe('hello')
      turns.push(turn)
      if (turns.length < 3) request.socket.destroy()
      else json({ turn }, 202)
    },
    'GET /sessions/ses_1/turns/{turn}': ({ request, line, json }) => {
      requested += 1
      expect(line).toContain(turns[0])
      if (requested === 1) request.socket.destroy()
      else if (requested === 2) json({ turn: turns[0], running: true })
      else json({ turn: turns[0], outcome: 'ok' })
    },
    'GET /sessions/ses_1': ({ json }) => json({ ...state, turns: 1 }),
  })
  expect(await session.prompt('hello')).toEqual({ turn: turns[0], outcome: 'ok' })
  expect(turns).toHaveLength(3)
  expect(new Set(turns).size).toBe(1)
  expect(session.info).toMatchObject({ turns: 1, busy: false })
  expect(session.info).not.toHaveProperty('permissions')
})

it('stops retrying a prompt after five times', async () => {
  let sent = 0
  const { session } = await newSession({
    'POST /sessions/ses_1/prompt': ({ request }) => {
      sent += 1
      request.socket.destroy()
    },
  })
  await expect(session.prompt('hello')).rejects.toMatchObject({ code: 'connection_failed' })
  expect(sent).toBe(6)
})

it.each(['POST /sessions/ses_1/prompt', 'GET /sessions/ses_1/turns/{turn}'])(
  'throws the error response to %s',
  async (name) => {
    let count = 0
    const { session } = await newSession({
      [name]: ({ problem }: Exchange) => {
        count += 1
        problem('session_queue_full', 429)
      },
    })
    await expect(session.prompt('hello')).rejects.toMatchObject({ code: 'session_queue_full' })
    expect(count).toBe(1)
  },
)

it('cancels its turn when its signal aborts, and waits for the result', async () => {
  const caller = new AbortController()
  let cancelled: unknown
  const { session } = await newSession({
    'POST /sessions/ses_1/cancel': async ({ body, response }) => {
      cancelled = JSON.parse((await body()).toString())
      response.writeHead(204).end()
    },
    'GET /sessions/ses_1/turns/{turn}': ({ json }) => {
      caller.abort()
      json(cancelled === undefined ? { turn: 't', running: true } : { turn: 't', outcome: 'cancelled' })
    },
  })
  expect(await session.prompt('hello', { signal: caller.signal, turn: 'turn_own' })).toMatchObject({
    outcome: 'cancelled',
  })
  expect(cancelled).toEqual({ turn: 'turn_own' })
  expect(await session.prompt('hello', { signal: caller.signal })).toMatchObject({ outcome: 'cancelled' })
})

it('shows pending requests to a listener of their events', async () => {
  let stream: ReturnType<typeof openStream> | undefined
  const queries: string[] = []
  let isAsked = false
  let isAnswered = false
  const { session } = await newSession({
    'GET /events': (exchange) => {
      queries.push(String(exchange.query))
      stream = openStream(exchange)
      stream.write(heartbeat('c1'))
    },
    'POST /sessions/ses_1/prompt': ({ json }) => {
      json({ turn: 't' }, 202)
      isAsked = true
      stream?.write(`id: c2\ndata: ${JSON.stringify({ ...event(2), type: 'permission.requested' })}\n\n`)
    },
    'GET /sessions/ses_1': ({ json }) =>
      json({ ...state, permissions: isAsked && !isAnswered ? [permission] : [] }),
    'POST /sessions/ses_1/permissions/perm_1': async ({ body, response }) => {
      expect(JSON.parse((await body()).toString())).toEqual({ answer: 'allow_once' })
      isAnswered = true
      response.writeHead(204).end()
    },
    'GET /sessions/ses_1/turns/{turn}': ({ json }) =>
      json(isAnswered ? { turn: 't', outcome: 'ok' } : { turn: 't', running: true }),
  })
  const seen: string[] = []
  const leave = session.onEvent(({ type }) => {
    seen.push(type)
    for (const { id } of session.permissions) void session.respondPermission(id, 'allow_once')
  })
  session.onEvent(() => {
    throw new Error('an observer that fails')
  })
  expect(await session.prompt('hello')).toMatchObject({ outcome: 'ok' })
  leave()
  leave()
  expect(seen).toEqual(['permission.requested'])
  expect(session.permissions).toEqual([])
  expect(queries).toEqual(['session=ses_1&after=now'])
})

it('tails events only while it has listeners or a prompt', async () => {
  let open = 0
  const { session } = await newSession({
    'GET /events': (exchange) => {
      open += 1
      exchange.response.once('close', () => {
        open -= 1
      })
      openStream(exchange).write(heartbeat('c1'))
    },
  })
  await session.prompt('hello')
  await expect.poll(() => open).toBe(0)
  const leave = session.onEvent(() => undefined)
  await expect.poll(() => open).toBe(1)
  leave()
  await expect.poll(() => open).toBe(0)
})

it('sets options, forks and closes', async () => {
  const { session } = await newSession({
    'PUT /sessions/ses_1/mode': async ({ body, json }) => {
      expect(JSON.parse((await body()).toString())).toEqual({ value: 'plan' })
      json({ ...state, title: 'chosen' })
    },
    'POST /sessions/ses_1/fork': ({ json }) => json({ ...state, id: 'ses_2' }, 201),
    'DELETE /sessions/ses_1': ({ response }) => response.writeHead(204).end(),
  })
  await session.setMode('plan')
  expect(session.info.title).toBe('chosen')
  expect((await session.fork()).id).toBe('ses_2')
  await session.close()
  expect(session.info).toMatchObject({ state: 'closed', busy: false })
})

it('throws interrupted when a restarted daemon does not know an accepted turn', async () => {
  const { session } = await newSession({
    'GET /sessions/ses_1/turns/{turn}': ({ problem }) => problem('not_found', 404),
  })
  await expect(session.prompt('hello')).rejects.toMatchObject({
    code: 'interrupted',
    message: expect.stringContaining('started; none of its work was done') as string,
  })
})

it('sends the actor, the run and the trace of a prompt with it, the same at each attempt', async () => {
  const bodies: unknown[] = []
  const { session } = await newSession({
    'POST /sessions/ses_1/prompt': async ({ body, request, json }) => {
      bodies.push(JSON.parse((await body()).toString()))
      if (bodies.length < 2) request.socket.destroy()
      else json({ turn: 'turn_own' }, 202)
    },
  })
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
  const context = { actor: 'ada', run: 'run_1', traceparent }
  expect(await session.prompt('hello', { turn: 'turn_own', ...context })).toMatchObject({ outcome: 'ok' })
  const sent = { prompt: 'hello', turn: 'turn_own', ...context }
  expect(bodies).toEqual([sent, sent])
})
