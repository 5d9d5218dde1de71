import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))

/** As a user runs it, from a folder of no meaning. */
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
  it('shows what the demo agent says and does, and what it changed', () => {
    const { status, stdout } = vitrine('ask', 'Build me a landing page')
    expect(stdout).toContain('[Write index.html]')
    expect(stdout).toContain('[permission: allow_once]')
    expect(stdout).toMatch(/Changed files\n {2}created {2}index\.html\n$/)
    expect(status).toBe(0)
  })

  it('takes an agent of one’s own from the command line', () => {
    const script = join(folder(), 'agent.mjs')
    writeFileSync(script, ownAgent)
    chmodSync(script, 0o644)
    const agent = `mine=${process.execPath} ${script}`
    const { status, stdout, stderr } = vitrine('ask', 'hello', '--agent', agent, '--isolation', 'none')
    expect(stderr).toBe('')
    expect(stdout).toContain('my own words')
    expect(status).toBe(0)
  })

  it('hands nothing to the terminal that it would obey, and does not wait for an answer that nobody gives', () => {
    const said = vitrine('ask', '/say \u001b]0;title\u0007 words')
    expect(said.stdout).toContain('words')
    expect(said.stdout).not.toContain('\u001b')
    const asked = vitrine('ask', '/question')
    expect(asked.stdout).toContain('nobody is here to answer')
    expect(asked.status).toBe(0)
  })

  it('says what to do when there is no such agent, no credential, no such choice', () => {
    expect(vitrine('ask', 'hi', '--agent', 'nobody')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('there are claude, codex'),
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
  it('lists every agent with what it needs', () => {
    const { status, stdout } = vitrine('agents', '--data', folder())
    expect(stdout).toMatch(
      /^claude +not installed +0\.99\.1 +wants ANTHROPIC_API_KEY +vitrine agents install claude$/m,
    )
    expect(stdout).toMatch(/^demo +ready +needs none$/m)
    expect(status).toBe(0)
  })

  it('installs nothing that was not named', () => {
    const { status, stderr } = vitrine('agents', 'install', '--data', folder())
    expect(stderr).toContain('Name the agents to install, or pass --all.')
    expect(status).toBe(1)
  })

  it.each([['ask'], ['agents'], ['agents', 'install']])('has help with examples: %s', (...command) => {
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
