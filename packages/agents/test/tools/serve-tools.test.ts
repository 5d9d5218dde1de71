import { AsyncLocalStorage } from 'node:async_hooks'
import type { McpServer } from '@agentclientprotocol/sdk'
import type { JsonObject } from '@vitrine/protocol'
import { expect, it } from 'vitest'
import { relayScript, serveTools } from '../../src/tools/serve-tools.ts'
import { call, callText, echo, listen, rpc, send, serve, slowTool, tool } from './fixture.ts'

it('initializes with the protocol version of the client, or else the newest one', async () => {
  const to = await serve([echo])
  for (const version of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']) {
    const { result } = await rpc(to, 'initialize', { protocolVersion: version })
    expect(result).toMatchObject({ protocolVersion: version, capabilities: { tools: {} } })
  }
  const { result } = await rpc(to, 'initialize', { protocolVersion: '2099-01-01' })
  expect(result).toMatchObject({ protocolVersion: '2025-11-25' })
})

it('lists its tools with their schemas', async () => {
  const to = await serve([echo, tool('nothing', () => undefined)])
  const { result } = await rpc(to, 'tools/list')
  expect(result).toEqual({
    tools: [
      { name: 'echo', description: echo.description, inputSchema: echo.input },
      { name: 'nothing', description: 'A tool called nothing.', inputSchema: { type: 'object' } },
    ],
  })
})

it('calls a tool with its input and its session', async () => {
  const to = await serve(
    [tool('who', (input, { session, signal }) => ({ input, session, live: !signal.aborted }))],
    {
      session: 'ses_7',
    },
  )
  expect(JSON.parse(await callText(to, 'who', { a: [1] }))).toEqual({
    input: { a: [1] },
    session: 'ses_7',
    live: true,
  })
})

it('responds to pings, accepts notifications and rejects unknown methods', async () => {
  const to = await serve([echo])
  expect(await rpc(to, 'ping', {}, 'p')).toEqual({ jsonrpc: '2.0', id: 'p', result: {} })
  const body = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })
  expect(await send(to, { body })).toMatchObject({ status: 202, text: '' })
  expect(await rpc(to, 'resources/list')).toMatchObject({ error: { code: -32601 } })
})

it('returns mcpServers entries of the Agent Client Protocol', async () => {
  const to = await serve([echo])
  const entries: McpServer[] = [to.server, to.stdio]
  const asJson: JsonObject[] = [to.server, to.stdio]
  expect(entries).toEqual(asJson)
  expect(to.server).toEqual({ type: 'http', name: 'host', url: to.url, headers: to.headers })
  expect(to.headers).toEqual([{ name: 'Authorization', value: `Bearer ${to.token}` }])
  expect(to.stdio).toMatchObject({ name: 'host', command: process.execPath, args: [relayScript] })
  const elsewhere = await serve([], { relay: { node: '/bin/node', script: '/opt/relay.js' } })
  expect(elsewhere.stdio).toMatchObject({ command: '/bin/node', args: ['/opt/relay.js'] })
})

it('lists the known tools when an unknown one is called', async () => {
  const to = await serve([echo])
  const { error } = await rpc(to, 'tools/call', { name: 'ecko' })
  expect(error).toEqual({ code: -32602, message: 'Unknown tool: "ecko". Expected one of: echo.' })
  expect(await rpc(to, 'tools/call', { name: 'toString' })).toMatchObject({ error: { code: -32602 } })
  expect(await rpc(to, 'tools/call')).toMatchObject({ error: { code: -32602 } })
})

it('reports invalid input and does not run the tool', async () => {
  let runs = 0
  const to = await serve([{ ...echo, run: () => (runs += 1) }])
  const { isError, content } = await call(to, 'echo', { text: 5 })
  expect(isError).toBe(true)
  expect(content[0]?.text).toMatch(/^Invalid input of echo: text: .*expected string, received number\.$/)
  const { result } = await rpc(to, 'tools/call', { name: 'echo', arguments: ['a'] })
  expect(result).toMatchObject({ isError: true })
  expect(runs).toBe(0)
})

it('reports the message of a tool that throws, without a stack', async () => {
  const to = await serve([
    tool('throws', () => {
      throw new Error('no such city')
    }),
    tool('rejects', () => Promise.reject(new TypeError('later'))),
    tool('odd', () => Promise.reject('a text')),
    tool('mute', () => Promise.reject(new Error())),
    tool('circular', () => {
      const value: Record<string, unknown> = {}
      value.self = value
      return value
    }),
  ])
  expect(await call(to, 'throws')).toEqual({
    content: [{ type: 'text', text: 'no such city' }],
    isError: true,
  })
  expect(await callText(to, 'rejects')).toBe('later')
  expect(await callText(to, 'odd')).toBe('a text')
  expect(await callText(to, 'mute')).toBe('mute failed.')
  const circular = await call(to, 'circular')
  expect(circular.isError).toBe(true)
  expect(circular.content[0]?.text).toContain('JSON cannot represent')
})

it('cancels running calls when it closes, with a result that says so', async () => {
  const { slow, began, stopped } = slowTool()
  const to = await serve([slow])
  const answer = call(to, 'slow')
  await began
  await to.close()
  expect(await stopped).toMatchObject({ code: 'cancelled' })
  expect(await answer).toEqual({
    content: [{ type: 'text', text: 'The session was closed.' }],
    isError: true,
  })
  await expect(send(to)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  await to.close()
})

it('cancels a call at its time limit, whether or not the tool observes its signal', async () => {
  const { slow, stopped } = slowTool()
  const to = await serve([slow], { limits: { callMs: 20 } })
  expect(await callText(to, 'slow')).toBe('slow took longer than 20 ms and was cancelled.')
  expect(await stopped).toMatchObject({ code: 'timeout' })
})

it('cancels the call of a client that disconnects', async () => {
  const { slow, began, stopped } = slowTool()
  const to = await serve([slow])
  const leaving = new AbortController()
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'slow' } })
  const answer = send(to, { body, signal: leaving.signal }).catch(() => 'gone')
  await began
  leaving.abort()
  expect(await stopped).toMatchObject({ code: 'cancelled' })
  expect(await answer).toBe('gone')
})

it('cancels a call by its id, but not the call of another client with the same id', async () => {
  const { slow, began, stopped } = slowTool()
  const to = await serve([slow])
  const greeting = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params: {} })
  const first = (await send(to, { body: greeting })).headers['mcp-session-id'] as string
  const second = (await send(to, { body: greeting })).headers['mcp-session-id'] as string
  expect(first).not.toBe(second)
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'slow' } })
  const answer = send(to, { body, headers: { 'mcp-session-id': first } })
  await began
  let ended = false
  void stopped.then(() => {
    ended = true
  })
  const cancel = JSON.stringify({
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
    params: { requestId: 1 },
  })
  await send(to, { body: cancel, headers: { 'mcp-session-id': second } })
  await send(to, { body: cancel })
  expect(ended).toBe(false)
  await send(to, { body: cancel, headers: { 'mcp-session-id': first } })
  expect(await stopped).toMatchObject({ code: 'cancelled' })
  expect((await answer).text).toContain('The agent cancelled the call.')
})

it('wraps every call and reports the error of a wrapper that rejects it', async () => {
  const seen: unknown[] = []
  const to = await serve([echo, tool('broken', () => Promise.reject(new Error('broken')))], {
    around: async (name, input, run) => {
      if (input.text === 'secret') throw new Error('Not this one.')
      try {
        const value = await run()
        seen.push([name, input, 'ok'])
        return value
      } catch (error) {
        seen.push([name, input, (error as Error).message])
        throw error
      }
    },
  })
  expect(await callText(to, 'echo', { text: 'a' })).toBe('a')
  expect(await callText(to, 'broken')).toBe('broken')
  expect(await call(to, 'echo', { text: 'secret' })).toEqual({
    content: [{ type: 'text', text: 'Not this one.' }],
    isError: true,
  })
  await call(to, 'echo', {})
  expect(seen).toEqual([
    ['echo', { text: 'a' }, 'ok'],
    ['broken', {}, 'broken'],
  ])
})

it('closes only after the wrappers of all calls are done', async () => {
  const { slow, began } = slowTool()
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
  const answer = call(to, 'slow')
  await began
  await to.close()
  steps.push('closed')
  await answer
  expect(steps).toEqual(['recorded', 'closed'])
})

it('runs calls outside of the async context in which it was opened', async () => {
  const work = new AsyncLocalStorage<string>()
  const where = tool('where', () => work.getStore() ?? 'outside')
  const to = await work.run('an operation', () => serve([where]))
  expect(await callText(to, 'where')).toBe('outside')
})

it('runs a hundred concurrent calls, a few at a time', async () => {
  let running = 0
  let most = 0
  const to = await serve(
    [
      tool('count', async ({ n }) => {
        running += 1
        most = Math.max(most, running)
        await new Promise((resolve) => setImmediate(resolve))
        running -= 1
        return n
      }),
    ],
    { limits: { calls: 8 } },
  )
  const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => callText(to, 'count', { n })))
  expect(answers).toEqual(Array.from({ length: 100 }, (_, n) => String(n)))
  expect(most).toBeLessThanOrEqual(8)
})

it('rejects a call when too many are waiting', async () => {
  const { slow, began } = slowTool()
  const to = await serve([slow, echo], { limits: { calls: 1, waiting: 0 } })
  const first = call(to, 'slow')
  await began
  expect(await call(to, 'echo', { text: 'a' })).toMatchObject({ isError: true })
  expect(await callText(to, 'echo', { text: 'a' })).toMatch(/^Too many calls at once: 1 run and 0 wait\./)
  await to.close()
  expect(await first).toMatchObject({ isError: true })
})

it('accepts only the token of its own session', async () => {
  const which = tool('which', (_input, { session }) => session)
  const [one, two] = [await serve([which], { session: 'one' }), await serve([which], { session: 'two' })]
  expect([await callText(one, 'which'), await callText(two, 'which')]).toEqual(['one', 'two'])
  expect(one.token).not.toBe(two.token)
  expect((await send({ ...one, token: two.token })).status).toBe(401)
  expect((await send({ ...two, token: one.token })).status).toBe(401)
})

it('tries another port when one is in use, and fails with any other error', async () => {
  const tried: number[] = []
  const to = await serve([echo], {
    listen: async (port) => {
      tried.push(port)
      if (tried.length === 1) throw Object.assign(new Error('taken'), { code: 'EADDRINUSE' })
      return listen(port)
    },
  })
  expect(tried.length).toBeGreaterThan(1)
  expect(new URL(to.url).port).toBe(String(tried.at(-1)))
  const taken = () => Promise.reject(Object.assign(new Error('taken'), { code: 'EADDRINUSE' }))
  await expect(serveTools({ session: 's', tools: [], listen: taken })).rejects.toMatchObject({
    code: 'port_unavailable',
  })
  const broken = () => Promise.reject(new Error('no sandbox'))
  await expect(serveTools({ session: 's', tools: [], listen: broken })).rejects.toThrow('no sandbox')
})

it('rejects tools that could never be called before it listens', async () => {
  const never = () => Promise.reject(new Error('listened'))
  const refused = (...tools: (typeof echo)[]) =>
    expect(serveTools({ session: 's', tools, listen: never })).rejects
  await refused({ ...echo, name: 'with space' }).toMatchObject({ code: 'argument_invalid' })
  await refused({ ...echo, name: '' }).toMatchObject({ code: 'argument_invalid' })
  await refused(echo, echo).toThrow('another tool has this name')
  await refused({ ...echo, input: {} }).toThrow("with type: 'object'")
  await refused({
    ...echo,
    input: { type: 'object', properties: { a: { not: { type: 'string' } } } },
  }).toThrow('cannot be checked')
  await expect(
    serveTools({ session: 's', tools: [], listen: never, limits: { calls: 0 } }),
  ).rejects.toMatchObject({ code: 'argument_invalid' })
})
