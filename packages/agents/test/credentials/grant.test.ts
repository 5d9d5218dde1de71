import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { VitrineError } from '@vitrine/protocol'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { grantCredentials } from '../../src/credentials/grant.ts'
import { maxLoginBytes, readLoginFile } from '../../src/credentials/login-file.ts'
import { findAgent } from '../../src/registry/known-agents.ts'

const claude = findAgent('claude')
const login = '{"claudeAiOauth":{"accessToken":"sk-ant-oat-12345","expiresAt":1}}\n'

function places(env: Record<string, string> = {}, files: Record<string, string> = {}) {
  return { env, home: '/home/me', readFile: (_: string, path: string) => files[path] }
}

function thrown(run: () => unknown): VitrineError {
  try {
    run()
  } catch (error) {
    if (error instanceof VitrineError) return error
    throw error
  }
  throw new Error('Nothing was thrown.')
}

test('grants nothing for `none`', () => {
  const granted = grantCredentials(claude, 'none', places({ ANTHROPIC_API_KEY: 'sk-ant-1234' }))
  expect(granted).toEqual({ env: {}, files: [], names: [], secrets: [] })
})

test('passes only the agent’s own variables for `env`', () => {
  const env = { ANTHROPIC_API_KEY: 'sk-ant-1234', OPENAI_API_KEY: 'sk-oai', AWS_SECRET_ACCESS_KEY: 'aws' }
  expect(grantCredentials(claude, 'env', places(env, { '.claude/.credentials.json': login }))).toEqual({
    env: { ANTHROPIC_API_KEY: 'sk-ant-1234' },
    files: [],
    names: ['ANTHROPIC_API_KEY'],
    secrets: ['sk-ant-1234'],
  })
})

test('passes accompanying variables, which are secret only with a login in them', () => {
  const env = { ANTHROPIC_API_KEY: 'sk-ant-1234', ANTHROPIC_BASE_URL: 'https://gateway.example' }
  const open = grantCredentials(claude, 'env', places(env))
  expect(open.env).toEqual(env)
  expect(open.secrets).toEqual(['sk-ant-1234'])
  const withLogin = { ...env, ANTHROPIC_BASE_URL: 'https://me:pass@gateway.example' }
  expect(grantCredentials(claude, 'env', places(withLogin)).secrets).toContain(
    'https://me:pass@gateway.example',
  )
})

test('passes login files, readable only for their owner, for `host`', () => {
  const files = { '.claude/.credentials.json': login, '.claude.json': '{"primaryApiKey":"sk-ant-primary"}' }
  const granted = grantCredentials(claude, 'host', places({}, files))
  expect(granted.files).toEqual([
    { path: '.claude/.credentials.json', content: login, mode: 0o600 },
    { path: '.claude.json', content: files['.claude.json'], mode: 0o600 },
  ])
  expect(granted.names).toEqual(['~/.claude/.credentials.json', '~/.claude.json'])
  expect(granted.secrets).toEqual([login, login.trim(), 'sk-ant-oat-12345', 'sk-ant-primary'])
})

test('passes explicit values unchanged', () => {
  const granted = grantCredentials(claude, { ANTHROPIC_API_KEY: 'mine-1234', OTHER: 'abc' }, places())
  expect(granted.env).toEqual({ ANTHROPIC_API_KEY: 'mine-1234', OTHER: 'abc' })
  expect(granted.names).toEqual(['ANTHROPIC_API_KEY', 'OTHER'])
  // Values that the redactor would reject are left out.
  expect(granted.secrets).toEqual(['mine-1234'])
})

test.each([{ ANTHROPIC_API_KEY: '' }, { 'A=B': 'value' }, { '': 'value' }])(
  'rejects an invalid explicit value: %o',
  (grant) => {
    const error = thrown(() => grantCredentials(claude, grant, places()))
    expect(error.code).toBe('environment_invalid')
    expect(error.message).toContain('such as ANTHROPIC_API_KEY')
  },
)

describe('missing credentials', () => {
  test('names the missing variables and how to set them', () => {
    const error = thrown(() => grantCredentials(claude, 'env', places({ ANTHROPIC_API_KEY: ' ' })))
    expect(error.code).toBe('credentials_missing')
    expect(error.message).toContain('The agent claude')
    expect(error.message).toContain('ANTHROPIC_API_KEY, CLAUDE_CODE_OAUTH_TOKEN, ANTHROPIC_AUTH_TOKEN')
    expect(error.message).toContain(
      "`export ANTHROPIC_API_KEY=…` where the host runs and pass `credentials: 'env'`",
    )
  })

  test('names the missing login files for `host`', () => {
    const error = thrown(() => grantCredentials(findAgent('codex'), 'host', places()))
    expect(error.message).toContain('OPENAI_API_KEY, CODEX_API_KEY, ~/.codex/auth.json')
  })

  test('reports missing credentials when only accompanying variables are set', () => {
    const found = places({ ANTHROPIC_MODEL: 'opus' }, { '.claude.json': '{"numStartups":1}' })
    expect(thrown(() => grantCredentials(claude, 'host', found)).code).toBe('credentials_missing')
  })

  test('reports nothing missing for an agent that needs no credentials', () => {
    expect(grantCredentials(findAgent('demo'), 'env', places()).names).toEqual([])
  })
})

describe('login files', () => {
  let home: string
  let elsewhere: string
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'vitrine-home-'))
    elsewhere = mkdtempSync(join(tmpdir(), 'vitrine-elsewhere-'))
  })
  afterEach(() => {
    for (const folder of [home, elsewhere]) rmSync(folder, { recursive: true, force: true })
  })
  const write = (path: string, content: string) => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
  }

  test('reads a login file from HOME', () => {
    write(join(home, '.codex/auth.json'), '{}')
    expect(readLoginFile(home, '.codex/auth.json')).toBe('{}')
    expect(readLoginFile(home, '.codex/other.json')).toBeUndefined()
  })

  test('follows a link to a login file within HOME, but not out of it', () => {
    write(join(home, 'dotfiles/auth.json'), 'inside')
    write(join(elsewhere, 'shadow'), 'outside')
    mkdirSync(join(home, '.codex'))
    symlinkSync('../dotfiles/auth.json', join(home, '.codex/auth.json'))
    symlinkSync(join(elsewhere, 'shadow'), join(home, '.codex/out.json'))
    symlinkSync(elsewhere, join(home, '.claude'))
    expect(readLoginFile(home, '.codex/auth.json')).toBe('inside')
    expect(readLoginFile(home, '.codex/out.json')).toBeUndefined()
    expect(readLoginFile(home, '.claude/shadow')).toBeUndefined()
  })

  test('reads no login file that is large or not a regular file', () => {
    write(join(home, 'large'), 'x'.repeat(maxLoginBytes + 1))
    mkdirSync(join(home, 'folder'))
    execFileSync('mkfifo', [join(home, 'fifo')])
    for (const name of ['large', 'folder', 'fifo']) expect(readLoginFile(home, name)).toBeUndefined()
  })
})
