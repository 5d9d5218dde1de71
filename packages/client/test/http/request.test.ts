import { toProblem, VitrineError } from '@vitrine/protocol'
import { expect, it } from 'vitest'
import { connect } from '../../src/connect.ts'
import { newScene } from '../fixture.ts'

it('sends the token, custom headers and the context', async () => {
  const seen: Record<string, unknown>[] = []
  const { sandbox } = await newScene(
    ({ request, json }) => {
      seen.push(request.headers)
      json({ running: true })
    },
    { token: 'secret', headers: { 'x-own': '1' } },
  )
  const inner = sandbox.as({ run: 'run 1', actor: 'é' }).as({ session: 's' })
  expect(await inner.lifecycle.running()).toBe(true)
  expect(seen[0]).toMatchObject({
    authorization: 'Bearer secret',
    'x-own': '1',
    'vitrine-run': 'run%201',
    'vitrine-actor': '%C3%A9',
    'vitrine-session': 's',
  })
  expect(seen[0]).not.toHaveProperty('vitrine-turn')
})

it('refuses a caller, which only the server sets', async () => {
  const { sandbox, lines } = await newScene(({ json }) => json({ running: true }))
  expect(() => sandbox.as({ caller: 'alice' } as never)).toThrow('unknown key "caller"')
  expect(lines).toEqual([])
})

it('refuses a malformed traceparent, which a server would ignore', async () => {
  const { sandbox, lines } = await newScene(({ json }) => json({ running: true }))
  const good = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  for (const traceparent of ['nonsense', '', `${good}\n`, good.replace('00-', 'ff-'), `${good}-é`])
    await expect(sandbox.as({ traceparent }).lifecycle.running()).rejects.toMatchObject({
      code: 'argument_invalid',
    })
  expect(lines).toEqual([])
  expect(await sandbox.as({ traceparent: good }).lifecycle.running()).toBe(true)
})

it('throws a problem as the VitrineError it describes', async () => {
  const { client } = await newScene(({ problem }) => problem('agent_unknown', 404))
  await expect(client.getAgent('x')).rejects.toMatchObject({
    code: 'agent_unknown',
    status: 404,
    message: 'It is agent_unknown.',
    hint: expect.stringContaining('listAgents'),
  })
})

it('throws a problem that arrives after the response began with 200', async () => {
  const { sandbox } = await newScene(({ response }) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write('  \n ')
    response.end(JSON.stringify({ type: 'urn:vitrine:error:cwd_outside', code: 'cwd_outside', detail: 'x' }))
  })
  await expect(sandbox.exec('true')).rejects.toMatchObject({ code: 'cwd_outside' })
})

it.each([200, 404, 502])('reports a response with %d that is not from Vitrine', async (status) => {
  const { client } = await newScene(({ response }) =>
    response.writeHead(status, { 'content-type': 'text/html' }).end('<html>'),
  )
  await expect(client.health()).rejects.toMatchObject({
    code: 'connection_failed',
    message: expect.stringMatching(new RegExp(`GET /v1/health.*${status}`)),
  })
})

it('reports a connection that breaks within a response', async () => {
  const { client } = await newScene(({ response }) => {
    response.writeHead(500, { 'content-type': 'application/problem+json', 'content-length': 100 })
    response.write('{"code":')
    setTimeout(() => response.destroy(), 20)
  })
  await expect(client.health()).rejects.toMatchObject({ code: 'connection_failed' })
})

it('reports a refused connection', async () => {
  const client = connect({ url: 'http://127.0.0.1:1' })
  await expect(client.health()).rejects.toMatchObject({
    code: 'connection_failed',
    retryable: 'unknown',
    cause: expect.any(Error),
  })
})

it('times out a GET without a response', async () => {
  const { client } = await newScene(() => undefined, { timeoutMs: 30 })
  await expect(client.health()).rejects.toMatchObject({
    code: 'connection_failed',
    message: expect.stringContaining('30 ms'),
  })
})

it('aborts running requests when the client is closed', async () => {
  const { client, sandbox, lines } = await newScene(() => undefined)
  const asked = sandbox.exec('sleep 1000')
  asked.catch(() => undefined)
  await expect.poll(() => lines.length).toBe(1)
  await client.close()
  await expect(asked).rejects.toMatchObject({
    code: 'connection_failed',
    message: expect.stringContaining('closed'),
  })
  await expect(client.health()).rejects.toMatchObject({ code: 'connection_failed' })
})

it('keeps the path of its base URL', async () => {
  const { wire, lines } = await newScene(({ json }) => json({ status: 'ok', version: '1' }))
  const client = connect({ url: `${wire.url}/behind/proxy//`, token: 'a b' })
  await client.health()
  expect(lines).toEqual(['GET /behind/proxy/v1/health'])
  expect(client.inspectorUrl).toBe(`${wire.url}/behind/proxy/ui/#token=a%20b`)
  expect(() => connect({ url: 'no address' })).toThrow(expect.objectContaining({ code: 'argument_invalid' }))
})

it('throws a problem after keep-alive spaces, for requests with and without a result', async () => {
  const late = JSON.stringify(toProblem(new VitrineError('internal', 'It went wrong after all.')))
  const { sandbox } = await newScene(({ response }) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write(' ')
    response.end(late)
  })
  const calls = { exec: () => sandbox.exec('true'), stop: () => sandbox.lifecycle.stop() }
  for (const [name, call] of Object.entries(calls))
    await expect(call(), name).rejects.toMatchObject({
      code: 'internal',
      message: 'It went wrong after all.',
    })
})
