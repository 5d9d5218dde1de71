import { expect, it } from 'vitest'
import { connect } from '../src/index.ts'
import { start } from '../src/node/index.ts'
import { description, newScene } from './fixture.ts'
import { openStream } from './journal/event-server.ts'

it('creates, attaches to, lists and destroys sandboxes', async () => {
  const bodies: string[] = []
  const { client, lines } = await newScene(async ({ request, line, body, json, response }) => {
    bodies.push((await body()).toString())
    if (request.method === 'DELETE') return response.writeHead(204).end()
    return json(line === 'GET /v1/sandboxes' ? { sandboxes: [description], default: 'sbx_1' } : description)
  })
  const created = await client.create({ labels: { a: '1' }, local: { isolation: 'none' } })
  expect(created).toMatchObject({ id: 'sbx_1', provider: 'local', root: '/workspace' })
  expect(created.capabilities.killTree).toBe('complete')
  expect(created.journal.id).toBe('sbx_1')
  expect((await client.default()).id).toBe('sbx_1')
  expect(await client.list()).toEqual([description])
  await client.destroy('sbx_1')
  expect(JSON.parse(bodies[0] ?? '')).toEqual({ labels: { a: '1' }, local: { isolation: 'none' } })
  expect(lines).toEqual([
    'POST /v1/sandboxes',
    'GET /v1/sandboxes',
    'POST /v1/sandboxes/sbx_1/attach',
    'GET /v1/sandboxes',
    'DELETE /v1/sandboxes/sbx_1',
  ])
})

it('sends what an attach gives again, and no body without it', async () => {
  const bodies: string[] = []
  const { client } = await newScene(async ({ body, json }) => {
    bodies.push((await body()).toString())
    json(description)
  })
  const { signal } = new AbortController()
  await client.attach('sbx_1', { signal })
  await client.attach('sbx_1', {
    policy: { deny: ['rm *'] },
    hooks: { beforeStop: ['npm run save'] },
    secrets: { token: 'abc-123' },
    isolation: 'none',
    allowDegraded: ['limits.pids'],
    signal,
  })
  expect(bodies[0]).toBe('')
  expect(JSON.parse(bodies[1] ?? '')).toEqual({
    policy: { deny: ['rm *'] },
    hooks: { beforeStop: ['npm run save'] },
    secrets: { token: 'abc-123' },
    isolation: 'none',
    allowDegraded: ['limits.pids'],
  })
})

it('sends unknown keys to the server, which refuses them, and does not send its signal', async () => {
  const requested: string[] = []
  const { client, sandbox } = await newScene(async ({ line, query, body, problem }) => {
    requested.push(`${line} ${query} ${await body()}`)
    problem('argument_invalid', 400)
  })
  // Plain JavaScript has no compiler to ask.
  const untyped = (options: object) => options as never
  const { signal } = new AbortController()
  const calls = [
    () => client.create(untyped({ workspce: {}, signal })),
    () => sandbox.openSession(untyped({ agent: 'demo', permission: 'allow', signal })),
    () => sandbox.exec('id', untyped({ timeout: 5, signal })),
    () => sandbox.spawn('id', untyped({ timeout: 5 })),
    () => sandbox.files.list('.', untyped({ limt: 5, signal })),
    () => sandbox.files.search('.', untyped({ nam: 'x', signal })),
    () => sandbox.journal.read(untyped({ type: { a: 1 }, signal })),
    () => sandbox.journal.tail(untyped({ type: 'x' })).next(),
    () => sandbox.persist(untyped({ skip: 'x', signal })),
    () => sandbox.ports.waitFor(80, untyped({ timeout: 5, signal })),
    () => sandbox.processes.stop('p', untyped({ grace: 5 })),
  ]
  for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'argument_invalid' })
  expect(requested).toEqual([
    'POST /v1/sandboxes  {"workspce":{}}',
    'POST /v1/sandboxes/sbx_1/sessions  {"agent":"demo","permission":"allow"}',
    'POST /v1/sandboxes/sbx_1/exec  {"timeout":5,"command":"id"}',
    'POST /v1/sandboxes/sbx_1/processes  {"timeout":5,"command":"id","shell":true}',
    'GET /v1/sandboxes/sbx_1/files/list limt=5&path=. ',
    'POST /v1/sandboxes/sbx_1/files/search  {"nam":"x","path":"."}',
    'GET /v1/sandboxes/sbx_1/events type=%7B%22a%22%3A1%7D ',
    'GET /v1/sandboxes/sbx_1/events type=x ',
    'GET /v1/sandboxes/sbx_1/workspace skip=x ',
    'GET /v1/sandboxes/sbx_1/ports/80 timeout=5&wait=30000 ',
    'POST /v1/sandboxes/sbx_1/processes/p/stop grace=5 ',
  ])
})

it('refuses options with the name of a request field, and sends nothing', async () => {
  const { client, sandbox, lines } = await newScene(({ problem }) => problem('argument_invalid', 400))
  const untyped = (options: object) => options as never
  const calls: readonly [() => Promise<unknown>, string][] = [
    [
      () => sandbox.exec('id', untyped({ stdinEncoding: 'base64' })),
      'exec options: unknown key "stdinEncoding".',
    ],
    [() => sandbox.spawn('id', untyped({ args: [] })), 'spawn options: unknown key "args".'],
    [() => sandbox.processes.logs('p', untyped({ follow: true })), 'logs options: unknown key "follow".'],
    [() => sandbox.journal.read(untyped({ scope: 'all' })), 'read options: unknown key "scope".'],
    [async () => sandbox.journal.tail(untyped({ limit: 5 })), 'tail options: unknown key "limit".'],
    [async () => client.events(untyped({ scope: 'host' })), 'tail options: unknown key "scope".'],
    [async () => sandbox.files.read('a', untyped({ path: 'b' })), 'read options: unknown key "path".'],
    [
      async () => sandbox.openSession(untyped({ agent: 'a', resume: true })),
      'openSession options: unknown key "resume".',
    ],
    [() => sandbox.ports.waitFor(80, untyped({ wait: 5 })), 'waitFor options: unknown key "wait".'],
    [async () => sandbox.processes.stop('p', untyped({ waitMs: 5 })), 'stop options: unknown key "waitMs".'],
    [
      () => client.installAgent('a', untyped({ reinstall: true })),
      'installAgent options: unknown key "reinstall".',
    ],
  ]
  for (const [call, message] of calls)
    await expect(call()).rejects.toMatchObject({ code: 'argument_invalid', message })
  expect(lines).toEqual([])
})

it('refuses unknown keys of options that are never sent, and suggests the nearest one', async () => {
  const { client, sandbox } = await newScene(({ problem }) => problem('argument_invalid', 400))
  const untyped = (options: object) => options as never
  const calls: readonly [() => unknown, string][] = [
    [
      () => connect(untyped({ url: 'http://x', tokn: 'a' })),
      'connect options: unknown key "tokn"; did you mean "token"?',
    ],
    [() => start(untyped({ dta: '/tmp' })), 'start options: unknown key "dta"; did you mean "data"?'],
    [() => sandbox.as(untyped({ user: 'me' })), 'as options: unknown key "user".'],
    [
      () => client.blob('0'.repeat(64), untyped({ form: 1 })),
      'range options: unknown key "form"; did you mean "from"?',
    ],
  ]
  for (const [call, message] of calls)
    await expect((async () => call())()).rejects.toMatchObject({
      code: 'argument_invalid',
      message: expect.stringContaining(message),
    })
})

it('reads the journal of any sandbox without attaching to it', async () => {
  const { client, lines } = await newScene(({ json }) => json({ events: [], cursor: 'c', end: true }))
  const journal = client.journal('sbx_gone')
  expect(journal.id).toBe('sbx_gone')
  expect(await journal.read()).toMatchObject({ end: true })
  expect(lines).toEqual(['GET /v1/sandboxes/sbx_gone/events'])
})

it('throws when there is no default sandbox', async () => {
  const { client } = await newScene(({ json }) => json({ sandboxes: [] }))
  await expect(client.default()).rejects.toMatchObject({ code: 'not_found' })
})

it('installs an agent and reports progress', async () => {
  const { client } = await newScene((exchange) => {
    const stream = openStream(exchange)
    stream.write('event: heartbeat\ndata: {}\n\nevent: progress\ndata: {"step":"download"}\n\n')
    stream.end(
      'event: result\ndata: {"version":"1.2","path":"/a"}\n\nevent: end\ndata: {"reason":"complete"}\n\n',
    )
  })
  const steps: string[] = []
  const installed = await client.installAgent('demo', { onProgress: ({ step }) => steps.push(step) })
  expect(installed).toEqual({ version: '1.2', path: '/a' })
  expect(steps).toEqual(['download'])
})

it('throws the reason when an agent was not installed', async () => {
  const { client } = await newScene((exchange) =>
    openStream(exchange).end('event: error\ndata: {"code":"agent_install_failed"}\n\nevent: end\n\n'),
  )
  await expect(client.installAgent('demo')).rejects.toMatchObject({ code: 'agent_install_failed' })
})

it('accepts commands as onBeforeStop hooks, and no functions', async () => {
  const { sandbox, lines } = await newScene(({ line, json, response }) =>
    line.endsWith('before-stop') ? response.writeHead(204).end() : json({ path: 'dist' }),
  )
  await sandbox.lifecycle.onBeforeStop('npm run save')
  expect(await sandbox.lifecycle.skipOnPersist('./dist')).toBe('dist')
  expect(lines).toHaveLength(2)
  await expect(sandbox.lifecycle.onBeforeStop(() => undefined)).rejects.toMatchObject({ code: 'unsupported' })
})

it('waits for a port up to its time limit', async () => {
  const queries: string[] = []
  const { sandbox } = await newScene(({ query, json }) => {
    queries.push(String(query))
    json({ host: '127.0.0.1', port: 80, url: 'http://127.0.0.1:80' })
  })
  await sandbox.ports.waitFor(80)
  await sandbox.ports.waitFor(80, { timeoutMs: 200 })
  await sandbox.ports.resolve(80)
  expect(queries).toEqual(['wait=30000', 'wait=200', ''])
  for (const port of [0, -1, 65_536, 1.5, Number.NaN])
    await expect(sandbox.ports.resolve(port)).rejects.toMatchObject({ code: 'argument_invalid' })
})

it('reports a destroyed sandbox as not running', async () => {
  const { sandbox } = await newScene(({ problem }) => problem('sandbox_destroyed', 410))
  expect(await sandbox.lifecycle.running()).toBe(false)
})
