import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))

/** Runs the command as a user would, in a directory that has nothing to do with it. */
function vitrine(...args: string[]) {
  const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning']
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, main, ...args], {
    cwd: '/',
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NO_COLOR: '1' },
  })
  return { status, stdout, stderr }
}

function folder(): string {
  const path = mkdtempSync('/var/tmp/vitrine-cli-')
  chmodSync(path, 0o755)
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

describe('vitrine ask', () => {
  it('prints the messages and tool calls of the demo agent, then the changed files', () => {
    const { status, stdout } = vitrine('ask', 'Build me a landing page')
    expect(stdout).toContain('[Write index.html]')
    expect(stdout).toContain('[permission: allow_once]')
    expect(stdout).toMatch(/Changed files\n {2}created {2}index\.html\n$/)
    expect(status).toBe(0)
  })

  it('runs an agent that is defined on the command line', () => {
    const script = join(folder(), 'agent.mjs')
    writeFileSync(script, ownAgent)
    chmodSync(script, 0o644)
    const agent = `mine=${process.execPath} ${script}`
    const { status, stdout, stderr } = vitrine('ask', 'hello', '--agent', agent, '--isolation', 'none')
    expect(stderr).toBe('')
    expect(stdout).toContain('my own words')
    expect(status).toBe(0)
  })

  it('escapes control characters for the terminal and cancels a question instead of waiting for an answer', () => {
    const message = vitrine('ask', '/say \u001b]0;title\u0007 words')
    expect(message.stdout).toContain('words')
    expect(message.stdout).not.toContain('\u001b')
    const question = vitrine('ask', '/question')
    expect(question.stdout).toContain('question cancelled')
    expect(question.status).toBe(0)
  })

  it('explains what to do about an unknown agent, a missing credential or an invalid choice', () => {
    expect(vitrine('ask', 'hi', '--agent', 'nobody')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('known agents: claude, codex'),
    })
    expect(vitrine('ask', 'hi', '--agent', 'claude')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('Set ANTHROPIC_API_KEY'),
    })
    expect(vitrine('ask', 'hi', '--isolation', 'moon')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('Allowed choices are auto, bubblewrap, none'),
    })
    expect(vitrine('ask', 'hi', '--agent', 'mine=')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("expected name='command'"),
    })
  })
})

describe('vitrine agents', () => {
  it('lists every agent with its state and the credentials it needs', () => {
    const { status, stdout } = vitrine('agents', '--data', folder())
    expect(stdout).toMatch(
      /^claude +not installed +0\.99\.1 +needs ANTHROPIC_API_KEY +vitrine agents install claude$/m,
    )
    expect(stdout).toMatch(/^demo +ready +needs none$/m)
    expect(status).toBe(0)
  })

  it('refuses to install without names or --all', () => {
    const { status, stderr } = vitrine('agents', 'install', '--data', folder())
    expect(stderr).toContain('Name the agents to install, or pass --all.')
    expect(status).toBe(1)
  })

  it.each([['ask'], ['agents'], ['agents', 'install']])('prints help with examples: %s', (...command) => {
    expect(vitrine(...command, '--help').stdout).toContain('Examples:\n  $ vitrine')
  })
})

const ownAgent = `
import { createInterface } from 'node:readline'
const say = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }))
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize') say({ id, result: { protocolVersion: 1 } })
  if (method === 'session/new') say({ id, result: { sessionId: 'one' } })
  if (method !== 'session/prompt') continue
  const content = { type: 'text', text: 'my own words' }
  const update = { sessionUpdate: 'agent_message_chunk', content }
  say({ method: 'session/update', params: { sessionId: params.sessionId, update } })
  say({ id, result: { stopReason: 'end_turn' } })
}
`
