import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { launchOf } from '../../src/install/launch.ts'
import { findAgent } from '../../src/registry/known-agents.ts'

const places = { node: '/opt/node/bin/node', home: '/home/sandbox', path: '/usr/bin' }
const there = { path: '/cache/agent/1.0.0' }

test('runs a script with the given Node, and puts its programs and that Node on PATH', () => {
  expect(launchOf(findAgent('pi'), there, places)).toEqual({
    argv: ['/opt/node/bin/node', '/cache/agent/1.0.0/node_modules/.bin/pi-acp'],
    env: {
      PATH: '/cache/agent/1.0.0/node_modules/.bin:/opt/node/bin:/usr/bin',
      PI_OFFLINE: '1',
      PI_SKIP_VERSION_CHECK: '1',
      PI_CODING_AGENT_DIR: '/home/sandbox/.pi/agent',
    },
  })
})

test('runs a program without Node', () => {
  const { argv } = launchOf(findAgent('opencode'), there, places)
  expect(argv).toEqual(['/cache/agent/1.0.0/node_modules/.bin/opencode', 'acp'])
})

test('needs no installation for a built-in agent', () => {
  const { argv } = launchOf(findAgent('demo'), undefined, places)
  expect(argv[0]).toBe('/opt/node/bin/node')
  expect(argv.at(-1)).toMatch(/demo\/main\.ts$/)
})

test('says how to install an agent that is not installed', () => {
  expect(() => launchOf(findAgent('claude'), undefined, places)).toThrow(/installAgent\('claude'\)/)
  expect(() => launchOf(findAgent('amp'), undefined, { ...places, commands: '/nowhere' })).toThrow(/amp-acp/)
})

test('finds a command on PATH', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vitrine-path-'))
  try {
    writeFileSync(join(folder, 'cursor-agent'), '#!/bin/sh\n')
    chmodSync(join(folder, 'cursor-agent'), 0o755)
    const { argv, env } = launchOf(findAgent('cursor'), undefined, { ...places, commands: `.:${folder}` })
    expect(argv).toEqual([join(folder, 'cursor-agent'), 'acp'])
    expect(env.PATH).toBe(`${folder}:/opt/node/bin:/usr/bin`)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
