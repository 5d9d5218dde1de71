import { expect, it } from 'vitest'
import { echo, type RpcReply, send, serve, tool } from './fixture.ts'

const request = (id: number, method: string, params = {}) => ({ jsonrpc: '2.0', id, method, params })

it.each([
  ['half of an object', '{"jsonrpc":'],
  ['nothing', ''],
  ['no JSON', 'hello'],
])('rejects %s', async (_what, body) => {
  const heard = await send(await serve([echo]), { body })
  expect(heard.status).toBe(400)
  expect(JSON.parse(heard.text)).toMatchObject({ id: null, error: { code: -32700 } })
})

it.each([
  ['a number', '1', null],
  ['null', 'null', null],
  ['another protocol', '{"id":1,"method":"ping"}', 1],
  ['no method', '{"jsonrpc":"2.0","id":1}', 1],
  ['an id of null', '{"jsonrpc":"2.0","id":null,"method":"ping"}', null],
  ['an object for an id', '{"jsonrpc":"2.0","id":{},"method":"ping"}', null],
  ['params that are a list', '{"jsonrpc":"2.0","id":"a","method":"ping","params":[]}', 'a'],
  ['an empty batch', '[]', null],
])('rejects %s as a message', async (_what, body, id) => {
  const heard = await send(await serve([echo]), { body })
  expect(heard.status).toBe(400)
  expect(JSON.parse(heard.text)).toMatchObject({ id, error: { code: -32600 } })
})

it('responds to the requests of a batch with a batch', async () => {
  const to = await serve([echo])
  const body = JSON.stringify([
    request(1, 'ping'),
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    request(2, 'tools/call', { name: 'echo', arguments: { text: 'two' } }),
    7,
    request(3, 'tools/call', { name: 'none' }),
    { jsonrpc: '2.0', id: 9, result: {} },
  ])
  const { status, text } = await send(to, { body })
  expect(status).toBe(200)
  const replies: RpcReply[] = JSON.parse(text)
  expect(replies.map(({ id }) => id)).toEqual([1, 2, null, 3])
  expect(replies[1]?.result?.content).toEqual([{ type: 'text', text: 'two' }])
  expect(replies.map(({ error }) => error?.code)).toEqual([undefined, undefined, -32600, -32602])
})

it('accepts a batch without requests, and rejects one that is too long', async () => {
  const to = await serve([echo], { limits: { batch: 2 } })
  const note = { jsonrpc: '2.0', method: 'notifications/initialized' }
  expect(await send(to, { body: JSON.stringify([note, note]) })).toMatchObject({ status: 202, text: '' })
  expect((await send(to, { body: JSON.stringify([note, note, note]) })).status).toBe(400)
})

it('runs a batch of a hundred calls without a warning', async () => {
  const warnings: Error[] = []
  const onWarning = (warning: Error) => warnings.push(warning)
  process.on('warning', onWarning)
  try {
    const to = await serve([
      tool('tick', () => new Promise((resolve) => setImmediate(() => resolve('tock')))),
    ])
    const calls = Array.from({ length: 100 }, (_, id) => request(id, 'tools/call', { name: 'tick' }))
    const replies: RpcReply[] = JSON.parse((await send(to, { body: JSON.stringify(calls) })).text)
    expect(replies).toHaveLength(100)
    expect(replies.every(({ result }) => result?.content[0]?.text === 'tock')).toBe(true)
    await new Promise((resolve) => setImmediate(resolve))
    expect(warnings).toEqual([])
  } finally {
    process.off('warning', onWarning)
  }
})

it('rejects an unknown protocol version, except in initialize', async () => {
  const to = await serve([echo])
  const headers = { 'mcp-protocol-version': '2099-01-01' }
  expect((await send(to, { body: JSON.stringify(request(1, 'ping')), headers })).status).toBe(400)
  expect((await send(to, { body: JSON.stringify(request(1, 'initialize')), headers })).status).toBe(200)
  const known = { 'mcp-protocol-version': '2025-06-18' }
  expect((await send(to, { body: JSON.stringify(request(1, 'ping')), headers: known })).status).toBe(200)
})
