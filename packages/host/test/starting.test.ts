import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  commandPolicy,
  createSandbox,
  type HostSandbox,
  local,
  type ScriptSandboxOptions,
} from '../src/index.ts'
import { dataFolder, quick } from './fixtures/data.ts'

async function opened(options: ScriptSandboxOptions = {}): Promise<HostSandbox> {
  const sandbox = await createSandbox({
    install: 'never',
    provider: local({ isolation: 'none' }),
    ...options,
  })
  onTestFinished(() => sandbox.close())
  return sandbox
}

async function everything(sandbox: HostSandbox): Promise<string> {
  return JSON.stringify((await sandbox.journal.read({ limit: 10_000 })).events)
}

describe('a credential of an agent', () => {
  it('a credential is masked however it is passed: variables, servers’ headers, addresses and arguments', async () => {
    const sandbox = await opened()
    const session = await sandbox.openSession({
      agent: 'demo',
      env: { ...quick, DEMO_API_KEY: 'variable-abc-123' },
      mcpServers: [
        {
          type: 'http',
          name: 'one',
          url: 'http://127.0.0.1:1/mcp?key=query-abc-123',
          headers: [
            { name: 'Authorization', value: 'Bearer header-abc-123' },
            { name: 'Accept', value: 'application/json' },
          ],
        },
        {
          name: 'two',
          command: 'true',
          args: ['--api-token', 'argument-abc-123', '--key=joined-abc-123'],
          env: [],
        },
      ],
    })
    await session.prompt(
      '/env-value DEMO_API_KEY\n/say header-abc-123 query-abc-123 argument-abc-123 joined-abc-123',
    )
    const text = await everything(sandbox)
    expect(text).not.toContain('abc-123')
    // Values that are no secrets stay readable.
    expect(text).toContain('application/json')
  })

  it('a credential is granted by name for a custom agent, because its variables are not known', async () => {
    const sandbox = await opened({ agents: [{ name: 'mine', command: 'cat' }] })
    await expect(sandbox.openSession({ agent: 'mine', credentials: 'env' })).rejects.toMatchObject({
      code: 'argument_invalid',
      message: expect.stringContaining('pass them by name'),
    })
  })
})

describe('a custom agent', () => {
  it('may be a shell command', async () => {
    const script = join(dataFolder(), 'agent.mjs')
    writeFileSync(script, agentSource)
    const command = `cd / && WORD=shell exec ${process.execPath} ${script}`
    const sandbox = await opened({ agents: [{ name: 'mine', command }] })
    const session = await sandbox.openSession({ agent: 'mine' })
    await session.prompt('hello')
    expect(JSON.stringify(await session.transcript())).toContain('said from shell')
  })

  it('starts under a policy that denies every other command', async () => {
    const script = join(dataFolder(), 'agent.mjs')
    writeFileSync(script, agentSource)
    const agents = [{ name: 'mine', command: [process.execPath, script] }]
    const sandbox = await opened({ agents, policy: commandPolicy({ otherwise: 'deny' }) })
    await expect(sandbox.exec('true')).rejects.toMatchObject({ code: 'gate_refused' })
    const session = await sandbox.openSession({ agent: 'mine' })
    expect(await session.prompt('hello')).toMatchObject({ outcome: 'ok' })
  })
})

describe('another model endpoint', () => {
  it('must be a URL, for an agent that supports another endpoint', async () => {
    const sandbox = await opened()
    const open = (agent: string, url: string) => sandbox.openSession({ agent, modelEndpoint: { url } })
    await expect(open('claude', 'ftp://model')).rejects.toMatchObject({ code: 'argument_invalid' })
    await expect(open('demo', 'http://127.0.0.1:1')).rejects.toMatchObject({ code: 'unsupported' })
  })
})

const agentSource = `
import { createInterface } from 'node:readline'
const say = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }))
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize') say({ id, result: { protocolVersion: 1 } })
  if (method === 'session/new') say({ id, result: { sessionId: 'one' } })
  if (method !== 'session/prompt') continue
  const content = { type: 'text', text: 'said from ' + process.env.WORD }
  say({ method: 'session/update', params: { sessionId: params.sessionId, update: { sessionUpdate: 'agent_message_chunk', content } } })
  say({ id, result: { stopReason: 'end_turn' } })
}
`
