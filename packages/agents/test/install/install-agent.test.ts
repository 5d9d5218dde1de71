import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type InstallProgress, VitrineError } from '@vitrine/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { installAgent } from '../../src/install/install-agent.ts'
import { installed } from '../../src/install/installation.ts'
import type { AgentEntry, NpmSource } from '../../src/registry/entry.ts'
import { findAgent } from '../../src/registry/known-agents.ts'
import { type FakeRegistry, fakeRegistry } from './fake-registry.ts'

const answers = `#!/usr/bin/env node
let input = ''
process.stdin.on('data', (data) => {
  input += data
  if (!input.includes('\\n')) return
  const { id, method, params } = JSON.parse(input)
  if (method !== 'initialize') process.exit(3)
  console.log('this line is no message')
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result: { protocolVersion: params.protocolVersion } }))
})
`
const needsItsScript = `#!/usr/bin/env node
const { readFileSync } = require('node:fs')
if (readFileSync(__dirname + '/ready', 'utf8') === 'yes') require('./agent.js')
`
/** A script that records whether it can reach the registry, and replaces the marker file with a link. */
const prepares = (url: string, victim: string) => `
const { symlinkSync, writeFileSync } = require('node:fs')
symlinkSync(${JSON.stringify(victim)}, __dirname + '/../../vitrine-agent.json')
const socket = require('node:net').connect(${new URL(url).port}, '127.0.0.1')
const end = (word) => { writeFileSync(__dirname + '/network', word); socket.destroy() }
socket.on('connect', () => end('reached'))
socket.on('error', () => end('none'))
writeFileSync(__dirname + '/ready', 'yes')
`
const evil = { postinstall: 'echo ran > ran', install: 'echo ran > ran' }
const agent = { name: 'fake-agent', bin: 'agent.js' }

let place: string
let registry: FakeRegistry
let cache: string

beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), 'vitrine-install-'))
  registry = await fakeRegistry(join(place, 'packages'), (url) => [
    { ...agent, version: '1.0.0', files: { 'agent.js': answers }, scripts: evil },
    { ...agent, version: '1.1.0', files: { 'agent.js': answers } },
    {
      ...agent,
      version: '2.0.0',
      files: {
        'agent.js': 'console.log("garbage"); console.error("a word of the program"); process.exit(7)',
      },
    },
    { ...agent, version: '2.1.0', files: { 'agent.js': 'setInterval(() => undefined, 1000)' } },
    {
      ...agent,
      version: '2.2.0',
      files: {
        'agent.js': answers.replace('params.protocolVersion', '2'),
      },
    },
    {
      name: 'fake-prepared',
      version: '1.0.0',
      bin: 'start.js',
      files: {
        'agent.js': answers,
        'start.js': needsItsScript,
        'postinstall.js': prepares(url, join(place, 'victim')),
      },
    },
    { name: 'fake-companion', version: '0.1.0', files: { 'index.js': '' } },
  ])
  vi.stubEnv('npm_config_registry', registry.url)
})

afterAll(async () => {
  vi.unstubAllEnvs()
  await registry.close()
  rmSync(place, { recursive: true, force: true })
})

beforeEach(() => {
  cache = mkdtempSync(join(place, 'cache-'))
  registry.requests.length = 0
})

afterEach(() => {
  const staging = join(cache, '.staging')
  // Also after a failure.
  expect(existsSync(staging) ? readdirSync(staging) : []).toEqual([])
})

function entry(name: string, source: Partial<NpmSource> & Pick<NpmSource, 'packages'>): AgentEntry {
  return {
    ...findAgent('demo'),
    name,
    source: {
      kind: 'npm',
      run: { with: 'node', path: `node_modules/.bin/${source.packages[0]?.name}`, args: [] },
      ...source,
    },
  }
}

const fake = entry('fake', { packages: [{ name: 'fake-agent', version: '1.0.0' }] })

async function failure(work: Promise<unknown>): Promise<VitrineError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (error instanceof VitrineError) return error
  throw new Error('It did not fail as it should.', { cause: error })
}

function filesRequested(): string[] {
  return registry.requests.filter((path) => path.endsWith('.tgz'))
}

function everythingIn(folder: string): string[] {
  return [
    folder,
    ...readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  ]
}

describe.each(['bubblewrap', 'none'] as const)('with isolation %s', (isolation) => {
  test('downloads an agent, verifies it and moves it to its folder', async () => {
    const told: InstallProgress[] = []
    const done = await installAgent(fake, { cache, isolation, onProgress: (one) => told.push(one) })
    expect(done).toMatchObject({
      name: 'fake',
      version: '1.0.0',
      packages: [{ name: 'fake-agent', version: '1.0.0' }],
      path: join(cache, 'fake', '1.0.0'),
    })
    expect(await installed(cache, 'fake')).toEqual(done)
    expect([...new Set(told.map(({ step }) => step))]).toEqual(['download', 'verify', 'done'])
    expect(told.at(0)?.message).toBe('npm install fake-agent@1.0.0')
    expect(told.at(-1)?.bytes).toBeGreaterThan(0)
  })

  test('runs no script of a package by itself', async () => {
    const { path } = await installAgent(fake, { cache, isolation })
    expect(existsSync(join(path, 'node_modules/fake-agent/agent.js'))).toBe(true)
    expect(everythingIn(path).filter((name) => name.endsWith('/ran'))).toEqual([])
  })

  test('makes an installation readable for all and writable only for its owner', async () => {
    const { path } = await installAgent(fake, { cache, isolation })
    for (const name of everythingIn(path)) {
      const stat = lstatSync(name)
      if (stat.isSymbolicLink()) continue
      const wanted = stat.isDirectory() ? 0o755 : 0o644
      expect(stat.mode & wanted, name).toBe(wanted)
      expect(stat.mode & 0o7022, name).toBe(0)
      expect(stat.uid, name).toBe(process.getuid?.())
    }
  })

  test('runs the required script of an agent, without a network if isolated', async () => {
    const prepared = entry('prepared', {
      packages: [{ name: 'fake-prepared', version: '1.0.0' }],
      postinstall: 'node_modules/fake-prepared/postinstall.js',
    })
    writeFileSync(join(place, 'victim'), 'untouched')
    const steps = new Set<string>()
    const { path } = await installAgent(prepared, {
      cache,
      isolation,
      onProgress: ({ step }) => steps.add(step),
    })
    expect([...steps]).toEqual(['download', 'postinstall', 'verify', 'done'])
    expect(readFileSync(join(place, 'victim'), 'utf8')).toBe('untouched')
    expect((await installed(cache, 'prepared'))?.version).toBe('1.0.0')
    expect(readFileSync(join(path, 'node_modules/fake-prepared/ready'), 'utf8')).toBe('yes')
    expect(readFileSync(join(path, 'node_modules/fake-prepared/network'), 'utf8')).toBe(
      isolation === 'none' ? 'reached' : 'none',
    )
  })

  test('leaves nothing behind when it is cancelled midway', async () => {
    const release = registry.pauseDownloads()
    try {
      const off = new AbortController()
      const work = installAgent(fake, { cache, isolation, signal: off.signal })
      await expect.poll(filesRequested, { timeout: 30_000 }).toHaveLength(1)
      off.abort()
      expect((await failure(work)).code).toBe('cancelled')
      expect(await installed(cache, 'fake')).toBeUndefined()
      expect(existsSync(join(cache, 'fake', '1.0.0'))).toBe(false)
    } finally {
      release()
    }
  })
})

test('shares one installation between concurrent calls', async () => {
  const told: string[] = []
  const both = await Promise.all([
    installAgent(fake, { cache }),
    installAgent(fake, { cache, onProgress: ({ step }) => told.push(step) }),
  ])
  expect(both[0]).toEqual(both[1])
  expect(filesRequested()).toHaveLength(1)
  expect(told.at(-1)).toBe('done')
})

test('does not download an installed agent again', async () => {
  const first = await installAgent(fake, { cache })
  registry.requests.length = 0
  expect(await installAgent(fake, { cache })).toEqual(first)
  expect(registry.requests).toEqual([])
})

test('uses the version that was requested last', async () => {
  await installAgent(fake, { cache })
  await installAgent(fake, { cache, version: '1.1.0' })
  expect((await installed(cache, 'fake'))?.version).toBe('1.1.0')
  await installAgent(fake, { cache })
  expect((await installed(cache, 'fake'))?.version).toBe('1.0.0')
})

test('applies a version to the first package only', async () => {
  const packages = [
    { name: 'fake-agent', version: '1.0.0' },
    { name: 'fake-companion', version: '0.1.0' },
  ]
  const done = await installAgent(entry('pair', { packages }), { cache, version: '1.1.0' })
  expect(done.packages).toEqual([
    { name: 'fake-agent', version: '1.1.0' },
    { name: 'fake-companion', version: '0.1.0' },
  ])
  const version = (name: string) =>
    JSON.parse(readFileSync(join(done.path, 'node_modules', name, 'package.json'), 'utf8')).version
  expect([version('fake-agent'), version('fake-companion')]).toEqual(['1.1.0', '0.1.0'])
})

describe('a failed installation leaves nothing behind', () => {
  afterEach(async () => {
    expect(await installed(cache, 'fake')).toBeUndefined()
  })

  test('fails when the program is not an agent', async () => {
    const error = await failure(installAgent(fake, { cache, version: '2.0.0' }))
    expect(error.code).toBe('agent_install_failed')
    expect(error.message).toMatch(/^Installing fake 2\.0\.0 failed: the program exited \(exit code 7\)/)
    expect(error.message).toContain('a word of the program')
    expect(error.message).toContain('garbage')
  })

  test('fails when the program does not respond', async () => {
    const error = await failure(installAgent(fake, { cache, version: '2.1.0', verifyMs: 1_000 }))
    expect(error.message).toContain('did not respond to `initialize` in 1 s')
  })

  test('fails when the program speaks another version of the protocol', async () => {
    const error = await failure(installAgent(fake, { cache, version: '2.2.0' }))
    expect(error.message).toContain('did not accept `initialize` with protocol version 1')
  })

  test('fails when the version does not exist', async () => {
    const error = await failure(installAgent(fake, { cache, version: '9.9.9' }))
    expect(error.code).toBe('agent_install_failed')
    expect(error.message).toContain('there is no such version')
    expect(error.message).toContain('No matching version found for fake-agent@9.9.9')
    expect(error.details).toMatchObject({ agent: 'fake', version: '9.9.9' })
  })

  test('fails when the package does not exist', async () => {
    const none = entry('fake', { packages: [{ name: 'fake-nothing', version: '1.0.0' }] })
    expect((await failure(installAgent(none, { cache }))).message).toContain(
      'the registry has no such package',
    )
  })

  test('fails when the registry is down', async () => {
    const down = await fakeRegistry(join(place, 'down'))
    await down.close()
    vi.stubEnv('npm_config_registry', down.url)
    try {
      const error = await failure(installAgent(fake, { cache, retryMs: 10 }))
      expect(error.code).toBe('agent_install_failed')
      expect(error.message).toContain('the registry cannot be reached')
      expect(error.message).toContain('`npm config get registry`')
    } finally {
      vi.stubEnv('npm_config_registry', registry.url)
    }
  })

  test('fails when there is no network', async () => {
    vi.stubEnv('npm_config_registry', 'https://packages.invalid/')
    try {
      const error = await failure(installAgent(fake, { cache, retryMs: 10 }))
      expect(error.message).toContain('the registry cannot be reached')
    } finally {
      vi.stubEnv('npm_config_registry', registry.url)
    }
  })

  test('fails when its folder exists and is not an installation', async () => {
    mkdirSync(join(cache, 'fake', '1.0.0', 'of-somebody'), { recursive: true })
    const error = await failure(installAgent(fake, { cache }))
    expect(error.message).toContain('exists but is not an installation')
    expect(existsSync(join(cache, 'fake', '1.0.0', 'of-somebody'))).toBe(true)
  })

  test('fails when it was cancelled before it started', async () => {
    const error = await failure(installAgent(fake, { cache, signal: AbortSignal.abort() }))
    expect(error.code).toBe('cancelled')
    expect(registry.requests).toEqual([])
  })
})

test('uses the proxy of this machine from the sandbox', async () => {
  vi.stubEnv('npm_config_registry', 'http://packages.invalid/')
  vi.stubEnv('npm_config_proxy', registry.url.replace('//', '//me:a-login@'))
  try {
    expect((await installAgent(fake, { cache })).version).toBe('1.0.0')
    expect(filesRequested()).toHaveLength(1)
  } finally {
    vi.stubEnv('npm_config_registry', registry.url)
    vi.stubEnv('npm_config_proxy', undefined)
  }
})

test('uses the installation of a process that finished first', async () => {
  const target = join(cache, 'fake', '1.0.0')
  const theirs = { name: 'fake', version: '1.0.0', packages: [], installedAt: 'earlier' }
  const done = await installAgent(fake, {
    cache,
    onProgress: ({ step }) => {
      if (step !== 'verify') return
      mkdirSync(target, { recursive: true })
      writeFileSync(join(target, 'vitrine-agent.json'), JSON.stringify(theirs))
    },
  })
  expect(done).toEqual({ ...theirs, path: target })
})

test.each([
  ['demo', {}, 'argument_invalid', 'nothing to install'],
  ['cursor', {}, 'agent_not_installed', 'cursor-agent'],
  ['klaude', {}, 'agent_unknown', 'klaude'],
  ['claude', { version: 'latest' }, 'argument_invalid', 'expected an exact version'],
  ['claude', { version: '../../1.0.0' }, 'argument_invalid', 'expected an exact version'],
])('refuses to install %s with %o', async (name, options, code, words) => {
  const error = await failure(installAgent(name, { cache, ...options }))
  expect(error.code).toBe(code)
  expect(error.message).toContain(words)
})
