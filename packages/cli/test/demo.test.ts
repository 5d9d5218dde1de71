import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const main = new URL('../src/main.ts', import.meta.url).pathname

function vitrine(...args: string[]) {
  // Some environments, CI among them, ask for colours even where there is no terminal.
  const env = { ...process.env, NO_COLOR: '1' }
  return spawnSync(process.execPath, ['--conditions=source', main, ...args], { encoding: 'utf8', env })
}

it('the demo shows the journal live, sums it up, verifies it, and lets no secret through', () => {
  const { status, stdout, stderr } = vitrine('demo', '--keep')
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toContain('process.output       Hello from a real process')
  expect(stdout).toContain('exec failed exit 3')
  expect(stdout).toContain('token=[redacted:DEMO_TOKEN]')
  expect(stdout).toContain('gate_refused: The gate "keep-the-readme" refused')
  expect(stdout).toMatch(/the chain of \d+ events holds/)
  expect(stdout).toContain('one byte of event 5 was changed; verify names event 5')
  const folder = /Kept in (.+)/.exec(stdout)![1]!
  try {
    const audit = readFileSync(join(folder, 'audit.jsonl'), 'utf8')
    const journal = readFileSync(join(folder, 'journal.db'), 'latin1')
    for (const record of [stdout, audit, journal]) {
      expect(record).not.toContain('demo-token-k7Qx')
      expect(record).not.toContain(Buffer.from('demo-token-k7Qx').toString('base64').slice(0, 18))
    }
    expect(
      audit
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).seq),
    ).toEqual(
      Array.from({ length: Number(/Journal {9}(\d+) events/.exec(stdout)![1]) }, (_, index) => index + 1),
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

it('the demo leaves nothing behind unless asked to', () => {
  const { status, stdout } = vitrine('demo')
  expect(status).toBe(0)
  const workspace = /demo (\/\S+\/workspace)/.exec(stdout)![1]!
  expect(existsSync(workspace)).toBe(false)
})

it('the demo that is interrupted leaves nothing behind either', async () => {
  const child = spawn(process.execPath, ['--conditions=source', main, 'demo'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NO_COLOR: '1' },
  })
  let stdout = ''
  for await (const chunk of child.stdout) {
    stdout += chunk
    if (stdout.includes('process.started')) break
  }
  child.kill('SIGINT')
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  const workspace = /demo (\/\S+\/workspace)/.exec(stdout)![1]!
  expect(existsSync(workspace)).toBe(false)
})

it('help names the commands with examples, and an unknown command says where help is', () => {
  expect(vitrine('--version').stdout).toBe('0.1.0\n')
  expect(vitrine('--help').stdout).toContain('demo')
  expect(vitrine('demo', '--help').stdout).toContain('$ vitrine demo')
  const unknown = vitrine('dmeo')
  expect(unknown.status).not.toBe(0)
  expect(unknown.stderr).toContain("unknown command 'dmeo'")
})
