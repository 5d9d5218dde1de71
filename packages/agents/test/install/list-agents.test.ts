import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AgentInfo } from '@vitrine/protocol'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { listAgents } from '../../src/install/list-agents.ts'
import { findAgent } from '../../src/registry/known-agents.ts'

let place: string
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'vitrine-list-'))
})
afterEach(() => rmSync(place, { recursive: true, force: true }))

function list(options: Partial<Parameters<typeof listAgents>[0]> = {}) {
  return listAgents({ cache: join(place, 'cache'), env: {}, home: place, ...options })
}

function one(all: readonly AgentInfo[], name: string): AgentInfo {
  const found = all.find((agent) => agent.name === name)
  if (found === undefined) throw new Error(`There is no ${name}.`)
  return found
}

function installedOnce(name: string, version: string) {
  const folder = join(place, 'cache', name, version)
  mkdirSync(folder, { recursive: true })
  const marker = { name, version, packages: [], installedAt: '2026-11-16T00:00:00.000Z' }
  writeFileSync(join(folder, 'vitrine-agent.json'), JSON.stringify(marker))
  return folder
}

test('shows only agents that need no installation as installed in an empty cache', async () => {
  const all = await list()
  expect(all.filter(({ installed }) => installed).map(({ name }) => name)).toEqual(['demo'])
  expect(one(all, 'claude')).toMatchObject({ from: 'npm', installed: false, pinned: '0.99.1' })
  expect(one(all, 'claude').credentials).toEqual({
    present: [],
    accepted: [
      'ANTHROPIC_API_KEY',
      'CLAUDE_CODE_OAUTH_TOKEN',
      'ANTHROPIC_AUTH_TOKEN',
      '~/.claude/.credentials.json',
    ],
  })
})

test('shows the version and the folder of an installed agent', async () => {
  const path = installedOnce('gemini', '0.60.0')
  expect(one(await list(), 'gemini')).toMatchObject({
    installed: true,
    version: '0.60.0',
    pinned: '0.61.0',
    path,
  })
})

test('ignores a folder without a valid marker', async () => {
  mkdirSync(join(place, 'cache', 'pi', '0.0.34'), { recursive: true })
  mkdirSync(join(place, 'cache', 'qwen', '0.24.4'), { recursive: true })
  writeFileSync(join(place, 'cache', 'qwen', '0.24.4', 'vitrine-agent.json'), '{"name":')
  const all = await list()
  expect(one(all, 'pi').installed).toBe(false)
  expect(one(all, 'qwen').installed).toBe(false)
})

test('shows a command agent as installed when its command is on PATH', async () => {
  const before = one(await list({ env: { PATH: place } }), 'cursor')
  expect(before).toMatchObject({ from: 'command', installed: false })
  expect(before.howToGet).toContain('cursor-agent')
  writeFileSync(join(place, 'cursor-agent'), '#!/bin/sh\n')
  chmodSync(join(place, 'cursor-agent'), 0o755)
  const after = one(await list({ env: { PATH: place } }), 'cursor')
  expect(after).toMatchObject({ installed: true, path: join(place, 'cursor-agent') })
})

test('names credentials without their values', async () => {
  mkdirSync(join(place, '.codex'))
  writeFileSync(join(place, '.codex', 'auth.json'), '{"OPENAI_API_KEY":"sk-file-value"}')
  const all = await list({ env: { OPENAI_API_KEY: 'sk-variable-value', GEMINI_API_KEY: ' ' } })
  expect(one(all, 'codex').credentials.present).toEqual(['OPENAI_API_KEY', '~/.codex/auth.json'])
  expect(one(all, 'gemini').credentials.present).toEqual([])
  expect(JSON.stringify(all)).not.toMatch(/sk-(file|variable)-value/)
})

test('lists custom agents first, in place of known ones with the same name', async () => {
  const { capabilities } = findAgent('demo')
  const mine: AgentInfo = {
    name: 'mine',
    title: 'Mine',
    installed: true,
    from: 'function',
    credentials: { present: [], accepted: [] },
    capabilities,
    options: [],
  }
  const all = await list({ custom: [mine, { ...findAgent('claude'), title: 'Other' }] })
  expect(all.slice(0, 2).map(({ title }) => title)).toEqual(['Mine', 'Other'])
  expect(all.filter(({ name }) => name === 'claude')).toHaveLength(1)
})
