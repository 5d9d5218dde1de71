import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'

const example = fileURLToPath(new URL('../first-agent/first-agent.ts', import.meta.url))

/** Runs the example from another directory and without credentials in the environment. */
function run(...args: string[]) {
  const cwd = mkdtempSync(join(tmpdir(), 'first-agent-'))
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env
  return spawnSync(process.execPath, ['--conditions=source', example, ...args], {
    cwd,
    env: { PATH, HOME, NODE_COMPILE_CACHE },
    encoding: 'utf8',
    timeout: 50_000,
  })
}

describe('the first agent', () => {
  it('prints what it did and which files it changed', () => {
    const { status, stdout, stderr } = run()
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    const lines = stdout.split('\n').filter((line) => line !== '')
    expect(lines.slice(0, 4)).toEqual([
      'user: Make a page for my bakery',
      'assistant: A page it is. Let me look around first.',
      '  [completed] List the workspace',
      '  [completed] Write index.html',
    ])
    expect(lines.slice(-2)).toEqual(['The turn ended: ok, end_turn. Changed files:', '  created index.html'])
  })

  it('takes a prompt', () => {
    const { status, stdout } = run('demo', '/write src/note.txt hello')
    expect(status).toBe(0)
    expect(stdout).toContain('  created src\n  created src/note.txt\n')
  })

  it('names the variable that an agent is missing', () => {
    const { status, stderr } = run('claude')
    expect(status).toBe(1)
    expect(stderr).toContain('ANTHROPIC_API_KEY')
  })
})
