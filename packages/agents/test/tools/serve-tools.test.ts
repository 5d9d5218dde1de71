import { AsyncLocalStorage } from 'node:async_hooks'
import type { McpServer } from '@agentclientprotocol/sdk'
import type { JsonObject } from '@vitrine/protocol'
import { expect, it } from 'vitest'
import { relayScript, serveTools } from '../../src/tools/serve-tools.ts'
import { ask, call, echo, listen, said, send, served, slowTool, tool } from './fixture.ts'

it('greets in the version that the client speaks, or in its own newest one', async () => {
  const to = await served([echo])
  for (const version of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']) {
    const { result } = await ask(to, 'initialize', { protocolVersion: version })
    expect(result).toMatchObject({ protocolVersion: version, capabilities: { tools: {} } })
  }
  const { result } = await ask(to, 'initialize', { protocolVersion: '2099-01-01' })
  expect(result).toMatchObject({ protocolVersion: '2025-11-25' })
})

it('lists its tools with their schemas', async () => {
  const to = await served([echo, tool('nothing', () => undefined)])
  const { result } = await ask(to, 'tools/list')
  expect(result).toEqual({
    tools: [
      { name: 'echo', description: echo.description, inputSchema: echo.input },
      { name: 'nothing', description: 'A tool called nothing.', inputSchema: { type: 'object' } },
    ],
  })
})

it('calls a tool with its input and the session it is called from', async () => {
  const to = await served(
    [tool('who', (input, { session, signal }) => ({ input, session, live: !signal.aborted }))],
    {
      session: 'ses_7',
    },
  )
  expect(JSON.parse(await said(to, 'who', { a: [1] }))).toEqual({
    input: { a: [1] },
    session: 'ses_7',
    live: true,
  })
})

it('answers pings, takes notifications and refuses methods that it does not have', async () => {
  const to = await served([echo])
  expect(await ask(to, 'ping', {}, 'p')).toEqual({ jsonrpc: '2.0', id: 'p', result: {} })
  const body = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })
  expect(await send(to, { body })).toMatchObject({ status: 202, text: '' })
  expect(await ask(to, 'resources/list')).toMatchObject({ error: { code: -32601 } })
})

it('is offered as entries of the Agent Client Protocol', async () => {
  const to = await served([echo])
  const entries: McpServer[] = [to.server, to.stdio]
  const asJson: JsonObject[] = [to.server, to.stdio]
  expect(entries).toEqual(asJson)
  expect(to.server).toEqual({ type: 'http', name: 'host', url: to.url, headers: to.headers })
  expect(to.headers).toEqual([{ name: 'Authorization', value: `Bearer ${to.token}` }])
  expect(to.stdio).toMatchObject({ name: 'host', command: process.execPath, args: [relayScript] })
  const elsewhere = await served([], { relay: { node: '/bin/node', script: '/opt/relay.js' } })
  expect(elsewhere.stdio).toMatchObject({ command: '/bin/node', args: ['/opt/relay.js'] })
})

it('names the tools that there are when one is called that is not', async () => {
  const to = await served([echo])
  const { error } = await ask(to, 'tools/call', { name: 'ecko' })
  expect(error).toEqual({ code: -32602, message: 'Unknown tool: "ecko". Expected one of: echo.' })
  expect(await ask(to, 'tools/call', { name: 'toString' })).toMatchObject({ error: { code: -32602 } })
  expect(await ask(to, 'tools/call')).toMatchObject({ error: { code: -32602 } })
})

it('says what is wrong with an input, and does not run the tool', async () => {
  let runs = 0
  const to = await served([{ ...echo, run: () => (runs += 1) }])
  const { isError, content } = await call(to, 'echo', { text: 5 })
  expect(isError).toBe(true)
  expect(content[0]?.text).toMatch(/^Invalid input of echo: text: .*expected string, received number\.$/)
  const { result } = await ask(to, 'tools/call', { name: 'echo', arguments: ['a'] })
  expect(result).toMatchObject({ isError: true })
  expect(runs).toBe(0)
})

it('tells the message of a tool that throws, and never a stack', async () => {
  const to = await served([
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
  expect(await said(to, 'rejects')).toBe('later')
  expect(await said(to, 'odd')).toBe('a text')
  expect(await said(to, 'mute')).toBe('mute failed.')
  const circular = await call(to, 'circular')
  expect(circular.isError).toBe(true)
  expect(circular.content[0]?.text).toContain('JSON cannot carry')
})

it('cancels what runs when it closes, and says so', async () => {
  const { slow, began, stopped } = slowTool()
  const to = await served([slow])
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

it('cancels what takes too long, whether the tool listens or not', async () => {
  const { slow, stopped } = slowTool()
  const to = await served([slow], { limits: { callMs: 20 } })
  expect(await said(to, 'slow')).toBe('slow took longer than 20 ms and was cancelled.')
  expect(await stopped).toMatchObject({ code: 'timeout' })
})

it('cancels the call of a client that goes away', async () => {
  const { slow, began, stopped } = slowTool()
  const to = await served([slow])
  const leaving = new AbortController()
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'slow' } })
  const answer = send(to, { body, signal: leaving.signal }).catch(() => 'gone')
  await began
  leaving.abort()
  expect(await stopped).toMatchObject({ code: 'cancelled' })
  expect(await answer).toBe('gone')
})

it('cancels the call that a client names, and not the one of another client with the same id', async () => {
  const { slow, began, stopped } = slowTool()
  const to = await served([slow])
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

it('wraps every call, and a wrap that refuses is told', async () => {
  const seen: unknown[] = []
  const to = await served([echo, tool('broken', () => Promise.reject(new Error('broken')))], {
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
  expect(await said(to, 'echo', { text: 'a' })).toBe('a')
  expect(await said(to, 'broken')).toBe('broken')
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

it('has closed only when the wraps of all calls are done', async () => {
  const { slow, began } = slowTool()
  const steps: string[] = []
  const to = await served([slow], {
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

it('runs a call outside of whatever it was opened in', async () => {
  const work = new AsyncLocalStorage<string>()
  const where = tool('where', () => work.getStore() ?? 'outside')
  const to = await work.run('an operation', () => served([where]))
  expect(await said(to, 'where')).toBe('outside')
})

it('answers a hundred calls at once, a few at a time', async () => {
  let running = 0
  let most = 0
  const to = await served(
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
  const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => said(to, 'count', { n })))
  expect(answers).toEqual(Array.from({ length: 100 }, (_, n) => String(n)))
  expect(most).toBeLessThanOrEqual(8)
})

it('refuses a call when too many wait', async () => {
  const { slow, began } = slowTool()
  const to = await served([slow, echo], { limits: { calls: 1, waiting: 0 } })
  const first = call(to, 'slow')
  await began
  expect(await call(to, 'echo', { text: 'a' })).toMatchObject({ isError: true })
  expect(await said(to, 'echo', { text: 'a' })).toMatch(/^Too many calls at once: 1 run and 0 wait\./)
  await to.close()
  expect(await first).toMatchObject({ isError: true })
})

it('tells sessions apart by their tokens', async () => {
  const which = tool('which', (_input, { session }) => session)
  const [one, two] = [await served([which], { session: 'one' }), await served([which], { session: 'two' })]
  expect([await said(one, 'which'), await said(two, 'which')]).toEqual(['one', 'two'])
  expect(one.token).not.toBe(two.token)
  expect((await send({ ...one, token: two.token })).status).toBe(401)
  expect((await send({ ...two, token: one.token })).status).toBe(401)
})

it('looks for another port when one is taken, and gives up at any other error', async () => {
  const tried: number[] = []
  const to = await served([echo], {
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

it('refuses tools that could never be called, before it listens', async () => {
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
