import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { ContentBlock, McpServer } from '@agentclientprotocol/sdk/unstable'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { commands } from '../../src/demo/commands/table.ts'
import { type DemoProcess, DemoProcesses } from './start.ts'

const stage = new DemoProcesses()
afterEach(() => stage.clear())

/** One agent for all tests without special needs, each in a new session. */
let demo: DemoProcess
const sharedProcesses = new DemoProcesses()
beforeAll(async () => {
  demo = await sharedProcesses.start()
})
beforeEach(() => {
  demo.permissions.length = 0
})
afterAll(() => sharedProcesses.clear())

/** Sends a prompt in a new session. */
async function given(
  demo: DemoProcess,
  prompt: string | ContentBlock[],
  cwd = stage.folder(),
  mcp: McpServer[] = [],
) {
  const id = await demo.session(cwd, mcp)
  const answer = await demo.prompt(id, prompt)
  return { id, cwd, answer, text: demo.text(id) }
}

/** The messages on stdout; a line that is not a message is returned as text. */
const messages = (demo: DemoProcess) =>
  demo.raw
    .toString()
    .split('\n')
    .map((line) => {
      try {
        return JSON.parse(line)
      } catch {
        return line
      }
    })

describe('message commands', () => {
  it('runs /say, /think, /plan, /title and /usage in order', async () => {
    const { id } = await given(
      demo,
      '/say one\n/think two\n/plan\n/usage\n/title Three\n/silence\n/wait 1\n/say four',
    )
    const kinds = demo.updates(id).map(({ sessionUpdate }) => sessionUpdate)
    expect(kinds.filter((kind) => kind !== 'available_commands_update')).toEqual([
      'agent_message_chunk',
      'agent_thought_chunk',
      'plan',
      'plan',
      'plan',
      'plan',
      'usage_update',
      'session_info_update',
      'agent_message_chunk',
    ])
    expect(demo.text(id)).toBe('onefour')
    expect(demo.of(id, 'session_info_update')[0]?.title).toBe('Three')
    expect(demo.of(id, 'usage_update')[0]).toMatchObject({ size: 200_000, cost: { currency: 'USD' } })
  })

  it('lists all commands for /help', async () => {
    const { id, text } = await given(demo, '/help')
    for (const { name, what } of commands) {
      expect(text).toContain(`/${name}`)
      expect(text).toContain(what)
    }
    await demo.until(id, ({ sessionUpdate }) => sessionUpdate === 'available_commands_update')
    expect(demo.of(id, 'available_commands_update')[0]?.availableCommands).toHaveLength(commands.length)
  })

  it('reports unknown and failing commands and continues', async () => {
    const { text } = await given(demo, '/dance\n/stream many\n/say on')
    expect(text).toContain('Unknown command /dance')
    expect(text).toContain('got many')
    expect(text).toMatch(/on$/)
  })

  it('streams numbered chunks of one message for /stream', async () => {
    const { id } = await given(demo, '/stream 5 20')
    const chunks = demo.of(id, 'agent_message_chunk')
    expect(chunks.map(({ content }) => content.type === 'text' && content.text.length)).toEqual([
      20, 20, 20, 20, 20,
    ])
    expect(new Set(chunks.map(({ messageId }) => messageId)).size).toBe(1)
  })

  it('loses no update of /flood, however slow the reader is', async () => {
    const id = await demo.session(stage.folder())
    const answering = demo.prompt(id, '/flood 5000 200')
    demo.child.stdout.pause()
    await new Promise((resolve) => setTimeout(resolve, 50))
    demo.child.stdout.resume()
    await answering
    const numbers = demo
      .of(id, 'agent_message_chunk')
      .map(({ content }) => (content.type === 'text' ? Number.parseInt(content.text, 10) : -1))
    expect(numbers).toEqual(Array.from({ length: 5000 }, (_, n) => n))
  })

  it('sends one large message for /big', async () => {
    expect((await given(demo, '/big 3000000')).text).toHaveLength(3_000_000)
  })

  it.each([
    ['/refuse', 'refusal'],
    ['/max-tokens', 'max_tokens'],
    ['/silence', 'end_turn'],
    ['/model-error', 'end_turn'],
  ])('ends %s with the stop reason %s', async (prompt, stopReason) => {
    const { answer, text } = await given(demo, prompt)
    expect(answer.stopReason).toBe(stopReason)
    expect(text).toMatch(prompt === '/model-error' ? /^API Error: 400 / : /^$/)
  })

  it('responds with an error for /error', async () => {
    await expect(given(demo, '/error out of luck')).rejects.toMatchObject({
      code: -32603,
      message: 'out of luck',
    })
    await expect(given(demo, '/error 400 bad')).rejects.toMatchObject({ code: 400, message: 'bad' })
  })
})

describe('workspace commands', () => {
  it('writes, reads and runs, and asks before it changes something', async () => {
    const { id, cwd, text } = await given(
      demo,
      '/write sub/a.txt one\ntwo\n/read sub/a.txt\n/run cat sub/a.txt; exit 3',
    )
    expect(readFileSync(join(cwd, 'sub/a.txt'), 'utf8')).toBe('one\ntwo')
    expect(text).toBe('Wrote sub/a.txt.one\ntwoEnded with 3.')
    expect(demo.permissions.map(({ toolCall }) => toolCall.kind)).toEqual(['edit', 'execute'])
    const ran = demo.of(id, 'tool_call_update').at(-1)
    expect(ran).toMatchObject({ status: 'failed', rawOutput: { exitCode: 3, output: 'one\ntwo' } })
  })

  it('reports a file that does not exist', async () => {
    const { id, text } = await given(demo, '/read nothing.txt')
    expect(text).toBe('Could not read nothing.txt.')
    expect(demo.of(id, 'tool_call_update').at(-1)?.status).toBe('failed')
  })

  it('shows a diff to the existing file', async () => {
    const cwd = stage.folder()
    writeFileSync(join(cwd, 'a.txt'), 'old')
    await given(demo, '/write a.txt new', cwd)
    expect(demo.permissions[0]?.toolCall.content).toEqual([
      { type: 'diff', path: join(cwd, 'a.txt'), oldText: 'old', newText: 'new' },
    ])
  })

  it('does not wait for background processes of a command', async () => {
    const { cwd, text } = await given(demo, '/run sleep 600 & echo $! > pid')
    process.kill(Number(readFileSync(join(cwd, 'pid'), 'utf8')), 'SIGKILL')
    expect(text).toBe('Ended with 0.')
  })

  it('starts a process that outlives the agent for /leave', async () => {
    const demo = await stage.start()
    const { text } = await given(demo, '/leave sleep 600')
    const pid = Number(/process (\d+)/.exec(text)?.[1])
    demo.child.stdin.end()
    await demo.exit()
    expect(process.kill(pid, 0)).toBe(true)
    process.kill(-pid, 'SIGKILL')
  })
})

describe('permission commands', () => {
  it.each([
    ['allow', 'Allowed.'],
    ['reject', 'Rejected.'],
  ] as const)('handles the answer %s to a permission request', async (permission, said) => {
    const demo = await stage.start({ permission })
    expect((await given(demo, '/ask edit')).text).toBe(said)
    expect((await given(demo, '/permission-first')).text).toBe(said)
    expect(demo.permissions[0]?.toolCall.kind).toBe('edit')
  })

  it.each([
    ['allow-always', 'Allowed.Allowed.'],
    ['reject-always', 'Rejected.Rejected.'],
  ] as const)('asks only once after %s', async (permission, said) => {
    const demo = await stage.start({ permission })
    expect((await given(demo, '/ask fetch\n/ask fetch')).text).toBe(said)
    expect(demo.permissions).toHaveLength(1)
  })

  it('asks permission for an unannounced tool call', async () => {
    const { id } = await given(demo, '/permission-first')
    expect(demo.of(id, 'tool_call')).toHaveLength(0)
    expect(demo.of(id, 'tool_call_update')[0]?.toolCallId).toBe(demo.permissions[0]?.toolCall.toolCallId)
  })

  it('asks permission under a child session id', async () => {
    const demo = await stage.start({ capabilities: { subagents: {} } })
    const { id, text } = await given(demo, '/subagent')
    expect(demo.permissions[0]?.sessionId).toBe(`${id}.child`)
    expect(text).toBe('The helper was allowed.')
    expect(demo.of(id, 'subagent_update').map(({ state }) => state?.state)).toEqual(['running', 'idle'])
  })

  it('asks questions with a form if the client supports forms', async () => {
    const asked: unknown[] = []
    const offering = await stage.start({
      capabilities: { elicitation: { form: {} } },
      with: (app) =>
        app.onRequest('elicitation/create', ({ params }) => {
          asked.push(params)
          return { action: 'accept', content: { name: 'Pip', colour: 'plum', tests: false } }
        }),
    })
    const { text } = await given(offering, '/question')
    expect(text).toBe('The answer is accept: {"name":"Pip","colour":"plum","tests":false}.')
    expect(asked[0]).toMatchObject({
      mode: 'form',
      requestedSchema: { properties: { name: { type: 'string' }, tests: { type: 'boolean' } } },
    })
    expect((await given(demo, '/question')).text).toBe('This client cannot be asked questions.')
  })

  it('changes its own mode for /mode-change', async () => {
    const { id } = await given(demo, '/mode-change\n/mode-change plan\n/mode-change nap')
    expect(demo.of(id, 'current_mode_update').map(({ currentModeId }) => currentModeId)).toEqual([
      'auto',
      'plan',
    ])
    expect(demo.text(id)).toBe('There is no mode nap.')
  })
})

describe('inspection commands', () => {
  it('describes the content blocks of the prompt for /echo', async () => {
    const data = Buffer.from('12345').toString('base64')
    const { text } = await given(demo, [
      { type: 'text', text: '/echo' },
      { type: 'image', mimeType: 'image/png', data },
      { type: 'audio', mimeType: 'audio/wav', data },
      { type: 'resource_link', name: 'a', uri: 'file:///a', size: 7 },
      { type: 'resource', resource: { uri: 'file:///b', text: 'abc' } },
      { type: 'resource', resource: { uri: 'file:///c', blob: data } },
    ])
    expect(text.split('\n')).toEqual([
      'text, 5 bytes',
      'image, image/png, 5 bytes',
      'audio, audio/wav, 5 bytes',
      'resource_link, file:///a, 7 bytes',
      'resource, file:///b, 3 bytes',
      'resource, file:///c, 5 bytes',
    ])
  })

  it('reports whether a variable is set, and its value only for /env-value', async () => {
    const demo = await stage.start({ env: { SECRET_THING: 'hush' } })
    expect((await given(demo, '/env SECRET_THING')).text).toBe('SECRET_THING is set, 4 characters.')
    expect((await given(demo, '/env OTHER_THING')).text).toBe('OTHER_THING is not set.')
    expect((await given(demo, '/env-value SECRET_THING')).text).toBe('hush')
  })

  it.each(['json', 'events'] as const)(
    'lists and calls the tools of MCP servers over HTTP (%s)',
    async (form) => {
      const server = createServer(async (request, response) => {
        let body = ''
        for await (const piece of request) body += piece
        const { id, method, params } = JSON.parse(body)
        if (id === undefined) return response.writeHead(202).end()
        const results: Record<string, unknown> = {
          initialize: {
            protocolVersion: '2025-06-18',
            capabilities: {},
            serverInfo: { name: 's', version: '1' },
          },
          'tools/list': { tools: [{ name: 'add', inputSchema: { type: 'object' } }] },
          'tools/call': {
            content: [{ type: 'text', text: `${request.headers.authorization} ${params?.arguments?.n}` }],
          },
        }
        const message = JSON.stringify({ jsonrpc: '2.0', id, result: results[method] })
        if (form === 'json') return response.setHeader('content-type', 'application/json').end(message)
        response.setHeader('content-type', 'text/event-stream')
        return response.end(`event: message\ndata: ${message}\n\n`)
      }).listen(0, '127.0.0.1')
      try {
        await new Promise((resolve) => server.once('listening', resolve))
        const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
        const mcp: McpServer[] = [
          { type: 'http', name: 'sums', url, headers: [{ name: 'authorization', value: 'Bearer x' }] },
          { name: 'local', command: 'nothing', args: [], env: [] },
        ]
        expect((await given(demo, '/mcp', undefined, mcp)).text).toBe('sums (http): add\nlocal (stdio)\n')
        const { id, text } = await given(demo, '/mcp-call add {"n":5}', undefined, mcp)
        expect(text).toContain('Bearer x 5')
        expect(demo.of(id, 'tool_call')[0]).toMatchObject({ title: 'sums: add', rawInput: { n: 5 } })
        expect((await given(demo, '/mcp-call sub', undefined, mcp)).text).toContain('has a tool sub')
        expect((await given(demo, '/mcp')).text).toBe('No MCP servers.')
      } finally {
        server.close()
      }
    },
  )
})

describe('protocol violations', () => {
  it('writes lines that are not JSON and bytes that are not UTF-8', async () => {
    const demo = await stage.start()
    const { text } = await given(demo, '/banner Hi there\n/badutf8\n/say still here')
    expect(messages(demo)).toContain('Hi there')
    expect(demo.raw.includes(Buffer.from([0xff, 0xfe, 0xc3, 0x28, 0x0a]))).toBe(true)
    expect(text).toContain('bad>\uFFFD(\uFFFD<bad')
    expect(text).toContain('still here')
  })

  it('writes lines to stderr for /stderr', async () => {
    const demo = await stage.start()
    await given(demo, '/stderr 100')
    demo.child.stdin.end()
    await demo.exit()
    expect(demo.stderr.match(/^demo agent: line \d+ of 100$/gm)).toHaveLength(100)
  })

  it('responds twice to a request, and to an unknown request id', async () => {
    const demo = await stage.start()
    const { text } = await given(demo, '/dup\n/unknown-response\n/say all')
    await given(demo, '/say more')
    expect(text).toBe('all')
    const answers = messages(demo).filter((message) => message.result?.stopReason === 'end_turn')
    expect(answers).toHaveLength(3)
    expect(answers[0].id).toBe(answers[1].id)
    expect(messages(demo).filter(({ id }) => String(id).startsWith('nobody-asked'))).toHaveLength(1)
  })

  it('sends requests and notifications with unknown methods', async () => {
    const demo = await stage.start()
    const { text } = await given(demo, '/unknown-request craft/drain\n/unknown-notification _auth/hm')
    expect(text).toBe('craft/drain answered error -32601.')
    expect(messages(demo).filter(({ method }) => method === '_auth/hm')).toHaveLength(1)
  })

  it('leaves a tool call open, and announces one after its update', async () => {
    const demo = await stage.start()
    const open = await given(demo, '/tool-open')
    expect(demo.of(open.id, 'tool_call')[0]?.status).toBe('in_progress')
    expect(demo.of(open.id, 'tool_call_update')).toHaveLength(0)
    const late = await given(demo, '/tool-first')
    const kinds = demo.updates(late.id).map(({ sessionUpdate }) => sessionUpdate)
    expect(kinds.filter((kind) => kind.startsWith('tool'))).toEqual([
      'tool_call_update',
      'tool_call',
      'tool_call_update',
    ])
  })
})
