import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allEvents, jsonBody, openDaemon, problemOf, type TestDaemon } from '../daemon.ts'

const env = { VITRINE_DEMO_PACE: '0', NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '' }
let daemon: TestDaemon
beforeAll(async () => {
  daemon = await openDaemon()
})
afterAll(() => daemon.close())

const open = (body: object = {}) => daemon.call('POST', '/v1/sessions', { agent: 'demo', env, ...body })
const prompt = (id: string, content: unknown, extra: object = {}, query = '') =>
  daemon.call('POST', `/v1/sessions/${id}/prompt${query}`, { prompt: content, ...extra })
const turnOf = (id: string, turn: string, wait = 20_000) =>
  daemon.call('GET', `/v1/sessions/${id}/turns/${turn}?wait=${wait}`)
const problemFor = async (method: string, path: string, body?: object) =>
  problemOf(await daemon.fetch(path, { method, ...(body && jsonBody(body)) }))

describe('a session', () => {
  it('is opened, listed, shown and closed', async () => {
    const response = await daemon.fetch('/v1/sessions', {
      method: 'POST',
      ...jsonBody({ agent: 'demo', env, id: 'talk' }),
    })
    expect(response.status).toBe(201)
    expect(await response.json()).toMatchObject({
      id: 'talk',
      agent: 'demo',
      state: 'open',
      busy: false,
      turns: 0,
      permissions: [],
      questions: [],
    })
    expect(await problemFor('POST', '/v1/sessions', { agent: 'demo', id: 'talk' })).toMatchObject({
      status: 409,
      code: 'session_exists',
    })
    const { sessions } = await daemon.call('GET', '/v1/sessions')
    expect(sessions).toMatchObject([{ id: 'talk', state: 'open' }])
    await daemon.call('DELETE', '/v1/sessions/talk')
    expect(await daemon.call('GET', '/v1/sessions/talk')).toMatchObject({ id: 'talk', state: 'closed' })
    const late = await problemFor('POST', '/v1/sessions/talk/prompt', { prompt: 'late' })
    expect(late).toMatchObject({ status: 409, code: 'session_closed' })
    expect((await problemFor('GET', '/v1/sessions/other')).status).toBe(404)
    expect((await daemon.call('GET', '/v1/sessions')).sessions).toMatchObject([{ state: 'closed' }])
  })

  it('refuses an unknown agent, and invalid options and content', async () => {
    const { id } = await open()
    for (const [path, body, code] of [
      ['', { agent: 'nobody' }, 'agent_unknown'],
      ['', { agent: 'demo', colour: 'red' }, 'argument_invalid'],
      ['', { agent: 'demo', resume: true }, 'argument_invalid'],
      ['', {}, 'argument_invalid'],
      [`/${id}/prompt`, { prompt: 5 }, 'argument_invalid'],
      [`/${id}/prompt`, { prompt: 'x', turn: 'a b' }, 'argument_invalid'],
      [`/${id}/prompt`, { prompt: 'x', turn: 'x'.repeat(129) }, 'argument_invalid'],
      [`/${id}/prompt`, { prompt: 'x', retry: true }, 'argument_invalid'],
      [`/${id}/prompt`, { prompt: 'x', traceparent: 'nonsense' }, 'argument_invalid'],
      [`/${id}/permissions/x`, { answer: 'maybe' }, 'argument_invalid'],
      [`/${id}/permissions/x`, { answer: 'allow_once' }, 'permission_not_pending'],
      [`/${id}/questions/x`, { action: 'accept' }, 'question_not_pending'],
      ['/nobody/prompt', { prompt: 'x' }, 'session_not_found'],
    ] as const)
      expect(
        (await problemFor('POST', `/v1/sessions${path}`, body)).code,
        `${path} ${JSON.stringify(body)}`,
      ).toBe(code)
  })

  it('accepts a prompt at once, and returns the turn’s result to a caller that waits', async () => {
    const { id } = await open()
    const response = await daemon.fetch(`/v1/sessions/${id}/prompt`, {
      method: 'POST',
      ...jsonBody({ prompt: '/wait 300\n/say done', turn: 'turn_mine' }),
    })
    expect(response.status).toBe(202)
    expect(await response.json()).toEqual({ turn: 'turn_mine' })
    expect(await turnOf(id, 'turn_mine', 0)).toEqual({ turn: 'turn_mine', running: true })
    expect(await turnOf(id, 'turn_mine')).toMatchObject({
      turn: 'turn_mine',
      outcome: 'ok',
      stopReason: 'end_turn',
    })
    expect(await turnOf(id, 'turn_mine', 0)).toMatchObject({ outcome: 'ok' })
    expect(await prompt(id, [{ type: 'text', text: '/say blocks' }], {}, '?wait=true')).toMatchObject({
      outcome: 'ok',
    })
    expect((await problemFor('GET', `/v1/sessions/${id}/turns/none`)).code).toBe('not_found')
  })

  it('runs a prompt that is sent twice as one turn', async () => {
    const { id } = await open()
    const twice = await Promise.all(
      [1, 2, 3].map(() => prompt(id, '/say once', { turn: 'turn_twice' }, '?wait')),
    )
    await prompt(id, '/say once', { turn: 'turn_twice' })
    expect(twice.map(({ turn }) => turn)).toEqual(['turn_twice', 'turn_twice', 'turn_twice'])
    const started = (await allEvents(daemon, '&types=turn.started')).filter(
      ({ turn }) => turn === 'turn_twice',
    )
    expect(started).toHaveLength(1)
    const other = await open()
    const stolen = await problemFor('POST', `/v1/sessions/${other.id}/prompt`, {
      prompt: 'mine',
      turn: 'turn_twice',
    })
    expect(stolen).toMatchObject({ status: 409, code: 'turn_exists' })
    const changed = await problemFor('POST', `/v1/sessions/${id}/prompt`, {
      prompt: '/say other',
      turn: 'turn_twice',
    })
    expect(changed).toMatchObject({ status: 409, code: 'turn_exists' })
    expect(await problemFor('GET', `/v1/sessions/${other.id}/turns/turn_twice`)).toMatchObject({
      status: 404,
    })
  })

  it('carries the actor and run of its call, or of its body, on every event of the turn', async () => {
    const { id } = await open()
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
    const context = { 'vitrine-actor': 'ada', 'vitrine-run': 'run_ada', traceparent }
    const send = async (body: object, headers: Record<string, string>) => {
      const init = jsonBody({ prompt: '/say hi', ...body })
      const path = `/v1/sessions/${id}/prompt?wait=true`
      const response = await daemon.fetch(path, {
        method: 'POST',
        ...init,
        headers: { ...init.headers, ...headers },
      })
      expect(response.status).toBe(200)
    }
    await send({ turn: 'turn_headers' }, context)
    await send({ turn: 'turn_body', actor: 'bob', run: 'run_bob' }, context)
    await send({ turn: 'turn_plain' }, {})
    const events = await allEvents(daemon, `&session=${id}`)
    const ofTurn = (turn: string) => events.filter((event) => event.turn === turn)
    for (const turn of ['turn_headers', 'turn_body', 'turn_plain'])
      expect(ofTurn(turn).map(({ type }) => type)).toContain('agent.message')
    for (const event of ofTurn('turn_headers'))
      expect(event).toMatchObject({ actor: 'ada', run: 'run_ada', trace: { traceId: 'a'.repeat(32) } })
    for (const event of ofTurn('turn_body')) expect(event).toMatchObject({ actor: 'bob', run: 'run_bob' })
    for (const event of ofTurn('turn_plain')) {
      expect(event).toMatchObject({ actor: 'alice' })
      expect(event).not.toHaveProperty('run')
    }
  })

  it('cancels the running turn, or a turn by its id', async () => {
    const { id } = await open()
    await prompt(id, '/stall', { turn: 'turn_a' })
    await expect.poll(async () => (await daemon.call('GET', `/v1/sessions/${id}`)).busy).toBe(true)
    await daemon.call('POST', `/v1/sessions/${id}/cancel`)
    expect(await turnOf(id, 'turn_a')).toMatchObject({ outcome: 'cancelled', stopReason: 'cancelled' })
    await prompt(id, '/stall', { turn: 'turn_b' })
    await daemon.call('POST', `/v1/sessions/${id}/cancel`, { turn: 'turn_b' })
    expect(await turnOf(id, 'turn_b')).toMatchObject({ outcome: 'cancelled' })
  })

  it('is not cancelled by the turn id of another session', async () => {
    const [one, two] = [await open(), await open()]
    await prompt(one.id, '/wait 500\n/say whole', { turn: 'turn_theirs' })
    await daemon.call('POST', `/v1/sessions/${two.id}/cancel`, { turn: 'turn_theirs' })
    expect(await turnOf(one.id, 'turn_theirs')).toMatchObject({ outcome: 'ok' })
  })

  it('continues when the client that prompted disconnects', async () => {
    const { id } = await open()
    const gone = new AbortController()
    const waiting = daemon.fetch(`/v1/sessions/${id}/prompt?wait=true`, {
      method: 'POST',
      ...jsonBody({ prompt: '/wait 300\n/say still here', turn: 'turn_left' }),
      signal: gone.signal,
    })
    waiting.catch(() => undefined)
    await expect.poll(async () => (await daemon.call('GET', `/v1/sessions/${id}`)).busy).toBe(true)
    gone.abort()
    expect(await turnOf(id, 'turn_left')).toMatchObject({ outcome: 'ok' })
  })

  it('reports how a turn failed, also from the journal', async () => {
    const { id } = await open()
    const failed = await problemFor('POST', `/v1/sessions/${id}/prompt?wait=true`, {
      prompt: '/error -32603 out of order',
      turn: 'turn_bad',
    })
    expect(failed).toMatchObject({ status: 502, code: 'agent_failed' })
    expect(await problemFor('GET', `/v1/sessions/${id}/turns/turn_bad`)).toMatchObject({
      code: 'agent_failed',
    })
  })

  it('reports the last stderr lines of the agent with a failed turn', async () => {
    const { id } = await open()
    const failed = await problemFor('POST', `/v1/sessions/${id}/prompt?wait=true`, {
      prompt: '/stderr 30\n/error -32603 out of order',
      turn: 'turn_stderr',
    })
    expect(failed).toMatchObject({
      code: 'agent_failed',
      detail: expect.stringMatching(/out of order\nEnd of its stderr .*line 29 of 30$/s),
      details: { stderr: { tail: expect.stringContaining('line 29 of 30') } },
    })
    expect(await problemFor('GET', `/v1/sessions/${id}/turns/turn_stderr`)).toMatchObject({
      detail: failed.detail,
    })
  })

  it('sets options, and refuses unknown ones', async () => {
    const { id, options } = await open()
    const put = (path: string, value: unknown) => daemon.call('PUT', `/v1/sessions/${id}/${path}`, { value })
    const mode = options.find(({ category }: { category?: string }) => category === 'mode')
    const other = mode.choices.find(({ value }: { value: string }) => value !== mode.current).value
    const changed = await put('mode', other)
    expect(changed.options.find(({ id: one }: { id: string }) => one === mode.id).current).toBe(other)
    await put(`options/${mode.id}`, mode.current)
    expect(await problemFor('PUT', `/v1/sessions/${id}/mode`, { value: 'no-such-mode' })).toMatchObject({
      status: 422,
      code: 'option_unknown',
    })
    expect((await problemFor('PUT', `/v1/sessions/${id}/model`, { value: 7 })).status).toBe(400)
  })

  it('requests a permission, and records the name of the token that answered it', async () => {
    const { id } = await open({ permissions: 'ask' })
    await prompt(id, '/ask edit', { turn: 'turn_ask' })
    const pending = async () => (await daemon.call('GET', `/v1/sessions/${id}`)).permissions
    await expect.poll(async () => (await pending()).length).toBe(1)
    const [{ id: permission }] = await pending()
    await daemon.call('POST', `/v1/sessions/${id}/permissions/${permission}`, { answer: 'allow_once' })
    expect(await turnOf(id, 'turn_ask')).toMatchObject({ outcome: 'ok' })
    const again = await problemFor('POST', `/v1/sessions/${id}/permissions/${permission}`, {
      answer: 'reject_once',
    })
    expect(again.code).toBe('permission_not_pending')
    const resolved = (await allEvents(daemon, '&types=permission.resolved')).filter(
      ({ session }) => session === id,
    )
    expect(resolved).toMatchObject([{ data: { by: 'alice', outcome: expect.anything() } }])
  })

  it('asks a question and gets the answer', async () => {
    const { id } = await open()
    await prompt(id, '/question', { turn: 'turn_q' })
    const pending = async () => (await daemon.call('GET', `/v1/sessions/${id}`)).questions
    await expect.poll(async () => (await pending()).length).toBe(1)
    const [{ id: question }] = await pending()
    await daemon.call('POST', `/v1/sessions/${id}/questions/${question}`, { action: 'decline' })
    expect(await turnOf(id, 'turn_q')).toMatchObject({ outcome: 'ok' })
    const resolved = (await allEvents(daemon, '&types=question.resolved')).filter(
      ({ session }) => session === id,
    )
    expect(resolved).toMatchObject([{ data: { by: 'alice' } }])
  })
})
