import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDaemon, problemOf, type TestDaemon } from '../daemon.ts'

let daemon: TestDaemon
beforeAll(async () => {
  daemon = await openDaemon()
})
afterAll(async () => {
  expect((await daemon.fetch('/v1/health')).status).toBe(200)
  await daemon.close()
})

const headers = { 'content-type': 'application/json' }
const post = async (path: string, body: string) =>
  problemOf(await daemon.fetch(path, { method: 'POST', body, headers }))

const deep = 50_000
const arrays = '['.repeat(deep) + ']'.repeat(deep)
const objects = `${'{"a":'.repeat(deep)}1${'}'.repeat(deep)}`

describe('a body that is nested 50,000 levels deep', () => {
  it.each([
    ['/v1/exec', arrays],
    ['/v1/exec', objects],
    ['/v1/exec', `{"command":${arrays}}`],
    ['/v1/exec', `{"command":"id","env":${objects}}`],
    ['/v1/exec', '['.repeat(deep)],
    ['/v1/sandboxes', `{"labels":${objects}}`],
    ['/v1/sandboxes', `{"workspace":${objects}}`],
    ['/v1/sessions', `{"agent":"demo","mcpServers":${arrays}}`],
    ['/v1/sessions/x/prompt', `{"prompt":${arrays}}`],
    ['/v1/sessions/x/questions/y', `{"action":"accept","content":${objects}}`],
    ['/v1/events', `{"events":[{"type":"log.message","data":${objects}}]}`],
  ])('is refused with the limit: %s', async (path, body) => {
    expect(await post(path, body)).toMatchObject({
      status: 400,
      code: 'body_invalid',
      detail: 'body: expected at most 100 levels of nesting, got more.',
      details: { limit: 100 },
    })
  })

  it('is refused in a query too', async () => {
    const options = encodeURIComponent(`{"command":${'['.repeat(1_000)}${']'.repeat(1_000)}}`)
    const path = `/v1/exec/input?options=${options}`
    expect(await problemOf(await daemon.fetch(path, { method: 'POST', body: '' }))).toMatchObject({
      status: 400,
      detail: 'query.options: expected at most 100 levels of nesting, got more.',
    })
  })
})

describe('a body', () => {
  it('with 300,000 keys is refused with the limit', async () => {
    const keys = Array.from({ length: 300_000 }, (_, index) => `"k${index}":1`).join()
    expect(await post('/v1/events', `{"events":[{"type":"log.message","data":{${keys}}}]}`)).toMatchObject({
      status: 400,
      code: 'body_invalid',
      detail: 'body: expected at most 200000 values in objects and arrays, got more.',
    })
  })

  it('may contain brackets and commas in its texts', async () => {
    const text = `${'[{,'.repeat(100_000)}\\"\\\\`
    const body = `{"command":["printf","%s","done"],"stdin":"${text}"}`
    const response = await daemon.fetch('/v1/exec', { method: 'POST', body, headers })
    expect(await response.json()).toMatchObject({ stdout: 'done' })
  })
})

describe('an event', () => {
  it('with more than 50,000 values is refused with the limit, in process and over HTTP', async () => {
    const fields = Object.fromEntries(Array.from({ length: 50_001 }, (_, index) => [`k${index}`, index]))
    const event = { type: 'log.message', data: { level: 'info', message: 'x', fields } } as const
    const refusal = {
      code: 'event_invalid',
      detail: 'events[0].data: expected at most 50000 values in objects and arrays, got more.',
    }
    expect(await post('/v1/events', JSON.stringify({ events: [event] }))).toMatchObject({
      status: 422,
      ...refusal,
    })
    const sandbox = await daemon.host.find(daemon.sandbox)
    await expect(sandbox.record([event])).rejects.toMatchObject({
      code: refusal.code,
      message: refusal.detail,
    })
    const journal = await daemon.host.store.journal(daemon.sandbox)
    await expect(journal.append([event])).rejects.toMatchObject({ code: refusal.code })
    await expect(journal.stream().append([event])).rejects.toMatchObject({ code: refusal.code })
  })
})

describe('a command', () => {
  const many = Array.from({ length: 60_000 }, (_, index) => `a${index}`)
  const variables = Object.fromEntries(many.map((name) => [name, '']))
  const command = ['true']

  it.each([
    [
      { command: ['true', ...many] },
      400,
      'argument_invalid',
      'command: expected at most 40000 arguments, got 60001',
    ],
    [
      { command, env: variables },
      422,
      'environment_invalid',
      'env: expected at most 4000 variables, got 60000',
    ],
    [
      { command, secrets: variables },
      422,
      'environment_invalid',
      'secrets: expected at most 4000 variables, got 60000',
    ],
  ])(
    'with more arguments or variables than can be recorded is refused with the limit',
    async (call, status, code, message) => {
      for (const path of ['/v1/exec', '/v1/processes'])
        expect(await post(path, JSON.stringify(call))).toMatchObject({
          status,
          code,
          detail: expect.stringContaining(message),
        })
      const sandbox = await daemon.host.find(daemon.sandbox)
      const { command: argv, ...options } = call
      await expect(sandbox.exec(argv, options)).rejects.toMatchObject({
        code,
        message: expect.stringContaining(message),
      })
    },
  )

  it('with as many as the limits allow is run and recorded', async () => {
    const env = Object.fromEntries(many.slice(0, 4_000).map((name) => [name, '']))
    const call = { command: ['true', ...many.slice(1, 40_000)], env }
    const response = await daemon.fetch('/v1/exec', { method: 'POST', body: JSON.stringify(call), headers })
    expect(await response.json()).toMatchObject({ exitCode: 0 })
  })
})

describe('a key __proto__', () => {
  it.each([
    ['/v1/sandboxes', '{"labels":{"__proto__":"x"}}', 'body.labels.__proto__'],
    ['/v1/sandboxes', '{"labels":{"a":"b","__proto__":{"c":"d"}}}', 'body.labels.__proto__'],
    ['/v1/sandboxes', '{"local":{"env":{"__proto__":"x"}}}', 'body.local.env.__proto__'],
    [
      '/v1/sandboxes',
      '{"workspace":{"files":{"__proto__":{"content":"x"}}}}',
      'body.workspace.files.__proto__',
    ],
    ['/v1/sandboxes', '{"__proto__":{"labels":{}}}', 'body'],
    ['/v1/exec', '{"command":"id","env":{"__proto__":"x"}}', 'body.env.__proto__'],
    ['/v1/exec', '{"command":"id","__proto__":{"timeoutMs":1}}', 'body'],
    ['/v1/processes', '{"command":"id","env":{"__proto__":"x"}}', 'body.env.__proto__'],
    ['/v1/sessions', '{"agent":"demo","env":{"__proto__":"x"}}', 'body.env.__proto__'],
    ['/v1/sessions', '{"agent":"demo","credentials":{"__proto__":"x"}}', 'body.credentials'],
  ])('is refused, not dropped: %s %s', async (path, body, at) => {
    const problem = await post(path, body)
    expect(problem).toMatchObject({ status: 400, code: 'argument_invalid' })
    expect(problem.detail).toContain(at)
  })

  it('is refused in a query', async () => {
    expect(await problemOf(await daemon.fetch('/v1/health?__proto__=x'))).toMatchObject({
      status: 400,
      detail: expect.stringContaining('__proto__'),
    })
  })

  it('is kept in the data of an event', async () => {
    const body =
      '{"events":[{"type":"log.message","data":{"level":"info","message":"kept","__proto__":{"a":1}}}]}'
    const response = await daemon.fetch('/v1/events', { method: 'POST', body, headers })
    expect(response.status).toBe(204)
    const journal = await daemon.host.store.journal(daemon.sandbox)
    expect(JSON.stringify(await journal.read({ text: 'kept' }))).toContain('"__proto__":{"a":1}')
  })

  it('is refused in process too', async () => {
    const parsed = (text: string) => JSON.parse(text)
    await expect(daemon.host.create(parsed('{"labels":{"__proto__":"x"}}'))).rejects.toMatchObject({
      code: 'argument_invalid',
      message: expect.stringContaining('labels.__proto__: expected another name'),
    })
    const sandbox = await daemon.host.find(daemon.sandbox)
    await expect(sandbox.exec('true', parsed('{"env":{"__proto__":"x"}}'))).rejects.toMatchObject({
      code: 'argument_invalid',
      message: expect.stringContaining('env.__proto__: expected another name'),
    })
  })
})
