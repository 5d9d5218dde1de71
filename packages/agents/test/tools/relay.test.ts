import { expect, it } from 'vitest'
import { relayScript } from '../../src/tools/serve-tools.ts'
import { echo, serve, slowTool, tool } from './fixture.ts'
import { Relay } from './relay-process.ts'

const request = (id: number, method: string, params = {}) => ({ jsonrpc: '2.0', id, method, params })
const toolCall = (id: number, name: string, input = {}) =>
  request(id, 'tools/call', { name, arguments: input })

it('relays a whole conversation over stdio', async () => {
  const to = await serve([echo])
  const relay = new Relay(to.stdio)
  relay.write(request(0, 'initialize', { protocolVersion: '2025-06-18' }))
  expect(await relay.next()).toMatchObject({ id: 0, result: { protocolVersion: '2025-06-18' } })
  relay.write({ jsonrpc: '2.0', method: 'notifications/initialized' }, '', request(1, 'tools/list'))
  expect(await relay.next()).toMatchObject({ id: 1, result: { tools: [{ name: 'echo' }] } })
  const text = `umlaut ü, line\nseparator \u2028, face 😀, ${'long '.repeat(50_000)}`
  relay.write(toolCall(2, 'echo', { text }))
  expect((await relay.next()).result?.content).toEqual([{ type: 'text', text }])
  relay.child.stdin.end()
  expect(await relay.ended).toEqual([0, null])
})

it('responds to a hundred concurrent calls before it exits', async () => {
  const to = await serve([echo])
  const relay = new Relay(to.stdio)
  relay.write(...Array.from({ length: 100 }, (_, id) => toolCall(id, 'echo', { text: `call ${id}` })))
  const all = await relay.remaining()
  expect(all).toHaveLength(100)
  for (const { id, result } of all) expect(result?.content[0]?.text).toBe(`call ${id}`)
})

it('relays batches, and reports an invalid line', async () => {
  const to = await serve([echo])
  const relay = new Relay(to.stdio)
  relay.write([request(1, 'ping'), request(2, 'ping')])
  expect(await relay.next()).toMatchObject([{ id: 1 }, { id: 2 }])
  relay.write('{"jsonrpc":')
  expect(await relay.next()).toMatchObject({ id: null, error: { code: -32700 } })
  relay.write(request(3, 'tools/call', { name: 'none' }))
  expect(await relay.next()).toMatchObject({ id: 3, error: { code: -32602 } })
})

it('adds the request id to a rejection of the host', async () => {
  const to = await serve([echo], { limits: { bodyBytes: 1_000 } })
  const relay = new Relay(to.stdio)
  relay.write(toolCall(1, 'echo', { text: 'x'.repeat(3_000_000) }))
  expect(await relay.next()).toMatchObject({ id: 1, error: { code: -32000 } })
  const stranger = new Relay(to.stdio, { VITRINE_TOOLS_TOKEN: 'wrong' })
  stranger.write([request(1, 'ping'), { jsonrpc: '2.0', method: 'notifications/initialized' }])
  expect(await stranger.next()).toMatchObject([
    { id: 1, error: { message: expect.stringContaining('token') } },
  ])
})

it('connects to the host directly and ignores proxy variables', async () => {
  const to = await serve([echo])
  const proxies = {
    HTTP_PROXY: 'http://127.0.0.1:1',
    http_proxy: 'http://127.0.0.1:1',
    NODE_USE_ENV_PROXY: '1',
  }
  const relay = new Relay(to.stdio, proxies)
  relay.write(request(1, 'ping'))
  expect(await relay.next()).toMatchObject({ id: 1, result: {} })
})

it('relays the cancellation of a call', async () => {
  const { slow, began, stopped } = slowTool()
  const to = await serve([slow])
  const relay = new Relay(to.stdio)
  relay.write(request(0, 'initialize'))
  await relay.next()
  relay.write(toolCall(1, 'slow'))
  await began
  relay.write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
  expect(await stopped).toMatchObject({ code: 'cancelled', message: 'The agent cancelled the call.' })
})

it('cancels its calls when it is killed', async () => {
  const { slow, began, stopped } = slowTool()
  const to = await serve([slow])
  const relay = new Relay(to.stdio)
  relay.write(toolCall(1, 'slow'))
  await began
  relay.child.kill('SIGKILL')
  expect(await stopped).toMatchObject({ code: 'cancelled' })
})

it('reports that the host cannot be reached', async () => {
  const to = await serve([tool('quick', () => 'done')])
  const relay = new Relay(to.stdio)
  relay.write(toolCall(1, 'quick'))
  await relay.next()
  await to.close()
  relay.write(toolCall(2, 'quick'))
  expect(await relay.next()).toMatchObject({
    id: 2,
    error: { message: expect.stringContaining('cannot be reached') },
  })
})

it('refuses to start without a URL', async () => {
  const relay = new Relay({ name: 'host', command: process.execPath, args: [relayScript], env: [] })
  expect(await relay.ended).toEqual([2, null])
})
