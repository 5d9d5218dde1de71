import type { JsonObject } from '@vitrine/protocol'
import { expect, it } from 'vitest'
import { echo, send, serve, slowTool, tool } from './fixture.ts'
import { Relay } from './relay-process.ts'

/** A message of revision 2026-07-28, which has no handshake. */
function modern(id: number, method: string, params: JsonObject = {}, version = '2026-07-28') {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  return { jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } }
}

function headersOf({ method, params }: ReturnType<typeof modern>): Record<string, string> {
  const name = (params as JsonObject).name
  return {
    'mcp-protocol-version': params._meta['io.modelcontextprotocol/protocolVersion'],
    'mcp-method': method,
    ...(typeof name === 'string' && { 'mcp-name': name }),
  }
}

async function exchange(to: Awaited<ReturnType<typeof serve>>, message: ReturnType<typeof modern>) {
  const { status, text } = await send(to, { body: JSON.stringify(message), headers: headersOf(message) })
  return { status, ...JSON.parse(text) }
}

it('serves revision 2026-07-28 without a handshake', async () => {
  const to = await serve([echo])
  expect(await exchange(to, modern(1, 'server/discover'))).toMatchObject({
    status: 200,
    result: { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } },
  })
  expect(await exchange(to, modern(2, 'tools/list'))).toMatchObject({
    result: { tools: [{ name: 'echo', inputSchema: echo.input }] },
  })
  const call = modern(3, 'tools/call', { name: 'echo', arguments: { text: 'hello' } })
  expect(await exchange(to, call)).toMatchObject({
    id: 3,
    result: { resultType: 'complete', content: [{ type: 'text', text: 'hello' }] },
  })
})

it('checks, wraps and limits the calls of revision 2026-07-28 as those of the others', async () => {
  const { slow, stopped } = slowTool()
  const wrapped: string[] = []
  const to = await serve([echo, slow], {
    limits: { callMs: 20 },
    around: (name, _input, run) => {
      wrapped.push(name)
      return run()
    },
  })
  const wrong = modern(1, 'tools/call', { name: 'echo', arguments: { text: 5 } })
  expect(await exchange(to, wrong)).toMatchObject({ result: { isError: true } })
  const unknown = modern(2, 'tools/call', { name: 'ecko' })
  expect(await exchange(to, unknown)).toMatchObject({ error: { code: -32602 } })
  const late = await exchange(to, modern(3, 'tools/call', { name: 'slow' }))
  expect(late.result.content[0].text).toBe('slow took longer than 20 ms and was cancelled.')
  expect(await stopped).toMatchObject({ code: 'timeout' })
  expect(wrapped).toEqual(['slow'])
})

it('cancels the call of revision 2026-07-28 whose client disconnects, and closes after its wrapper', async () => {
  const { slow, began, stopped } = slowTool()
  const steps: string[] = []
  const to = await serve([slow], {
    around: async (_name, _input, run) => {
      try {
        return await run()
      } finally {
        await new Promise((resolve) => setImmediate(resolve))
        steps.push('recorded')
      }
    },
  })
  const leaving = new AbortController()
  const message = modern(1, 'tools/call', { name: 'slow' })
  const sent = { body: JSON.stringify(message), headers: headersOf(message), signal: leaving.signal }
  const answer = send(to, sent).catch(() => 'gone')
  await began
  leaving.abort()
  expect(await stopped).toMatchObject({ code: 'cancelled' })
  expect(await answer).toBe('gone')
  await to.close()
  steps.push('closed')
  expect(steps).toEqual(['recorded', 'closed'])
})

it('tells a client of an unknown revision which ones it serves', async () => {
  const to = await serve([echo])
  expect(await exchange(to, modern(7, 'tools/list', {}, '2099-01-01'))).toMatchObject({
    status: 400,
    id: 7,
    error: { code: -32022, data: { supported: ['2026-07-28'], requested: '2099-01-01' } },
  })
  expect(await exchange(to, modern(8, 'tools/list'))).toMatchObject({ status: 200 })
})

it.each([
  ['headers that contradict it', 400, -32020, { 'mcp-method': 'tools/call' }],
  ['headers of an older revision', 400, -32020, { 'mcp-protocol-version': '2025-11-25' }],
])('rejects a message of revision 2026-07-28 with %s', async (_what, status, code, headers) => {
  const to = await serve([echo])
  const message = modern(1, 'tools/list')
  const heard = await send(to, {
    body: JSON.stringify(message),
    headers: { ...headersOf(message), ...headers },
  })
  expect(heard.status).toBe(status)
  expect(JSON.parse(heard.text)).toMatchObject({ error: { code } })
})

it('ends a subscription at once, because the tools of a session never change', async () => {
  const to = await serve([echo])
  const message = modern(4, 'subscriptions/listen', { notifications: { toolsListChanged: true } })
  const { status, text } = await send(to, { body: JSON.stringify(message), headers: headersOf(message) })
  expect(status).toBe(200)
  expect(text).toContain('"resultType":"complete"')
})

it('relays revision 2026-07-28 over stdio', async () => {
  const { slow, began, stopped } = slowTool()
  const to = await serve([slow, echo, tool('who', (_input, { session }) => session)])
  const relay = new Relay(to.stdio)
  relay.write(modern(0, 'server/discover'))
  expect(await relay.next()).toMatchObject({ id: 0, result: { supportedVersions: ['2026-07-28'] } })
  relay.write(modern(1, 'tools/call', { name: 'who' }))
  expect(await relay.next()).toMatchObject({ id: 1, result: { content: [{ text: 'ses_test' }] } })
  relay.write(modern(2, 'tools/call', { name: 'wer bist du, ü?' }))
  expect(await relay.next()).toMatchObject({ id: 2, error: { code: -32602 } })
  relay.write(modern(3, 'tools/list', {}, '2099-01-01'))
  expect(await relay.next()).toMatchObject({ id: 3, error: { data: { supported: ['2026-07-28'] } } })
  relay.write(modern(4, 'subscriptions/listen', { notifications: { toolsListChanged: true } }))
  expect(await relay.next()).toMatchObject({ method: 'notifications/subscriptions/acknowledged' })
  expect(await relay.next()).toMatchObject({ id: 4, result: { resultType: 'complete' } })
  relay.write(modern(5, 'tools/call', { name: 'slow' }))
  await began
  relay.write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 5 } })
  expect(await stopped).toMatchObject({ code: 'cancelled', message: 'The agent cancelled the call.' })
})
