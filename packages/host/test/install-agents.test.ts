import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JournalReader } from '@vitrine/protocol'
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { type FakeRegistry, fakeRegistry } from '../../agents/test/install/fake-registry.ts'
import { dataFolder, open } from './fixtures/data.ts'

/** Responds to every request. */
const agent = `#!/usr/bin/env node
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, params } = JSON.parse(line)
  const result = { protocolVersion: params.protocolVersion, sessionId: 'one' }
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result }))
}).on('close', () => process.exit(0))
`

let place: string
let registry: FakeRegistry
beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), 'vitrine-registry-'))
  registry = await fakeRegistry(join(place, 'packages'), () => [
    { name: 'cline', version: '3.0.65', bin: 'agent.js', files: { 'agent.js': agent } },
  ])
  vi.stubEnv('npm_config_registry', registry.url)
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await registry.close()
  rmSync(place, { recursive: true, force: true })
})

/** A PATH that has every program but bubblewrap, until the test is over. */
function hideBubblewrap(): void {
  const programs = join(place, 'programs')
  if (!existsSync(programs)) {
    mkdirSync(programs)
    for (const name of readdirSync('/usr/bin'))
      if (name !== 'bwrap') symlinkSync(join('/usr/bin', name), join(programs, name))
  }
  vi.stubEnv('PATH', programs)
  onTestFinished(() => void vi.stubEnv('PATH', path))
}
const path = process.env.PATH ?? ''

async function installations(journal: JournalReader) {
  const { events } = await journal.read({ types: ['agent.installed'] })
  return events.filter((event) => event.type === 'agent.installed')
}

/** The agent's program below the folder of installed agents, wherever it is. */
function programsIn(data: string): string[] {
  const names = readdirSync(join(data, 'agents'), { recursive: true, encoding: 'utf8' })
  return names.filter((name) => name.endsWith('/cline/agent.js'))
}

const bob = { caller: 'bob', actor: 'alice', run: 'run_1' }

it('records who asked for an installation', async () => {
  const host = await open(dataFolder())
  const { version } = await host.installAgent('cline', {}, bob)
  expect(await installations(await host.store.journal('host'))).toMatchObject([
    { ...bob, data: { agent: 'cline', version } },
  ])
})

it('records who opened the session that an agent was installed for', async () => {
  const host = await open(dataFolder(), { install: 'lazy' })
  const sandbox = await host.create({ local: { isolation: 'none' } })
  await sandbox.as(bob).openSession({ id: 'talk', agent: 'cline', credentials: 'none' })
  expect(await installations(sandbox.journal)).toMatchObject([
    { ...bob, session: 'talk', data: { agent: 'cline' } },
  ])
})

it('installs no agent below the floor of the host', async () => {
  hideBubblewrap()
  const data = dataFolder()
  const host = await open(data, { floor: { isolation: 'bubblewrap' }, install: 'lazy' })
  await expect(host.installAgent('cline')).rejects.toMatchObject({ code: 'isolation_unavailable' })
  expect(await installations(await host.store.journal('host'))).toEqual([])
  expect(programsIn(data)).toEqual([])
  await host.close()
  // Without a floor the same host installs it.
  const next = await open(data)
  await next.installAgent('cline')
  expect(programsIn(data)).toHaveLength(1)
})

it('installs an agent for a session above the floor only', async () => {
  const data = dataFolder()
  const host = await open(data, { floor: { isolation: 'bubblewrap' }, install: 'lazy' })
  const sandbox = await host.create({ id: 'isolated' })
  hideBubblewrap()
  await expect(sandbox.openSession({ agent: 'cline', credentials: 'none' })).rejects.toMatchObject({
    code: 'isolation_unavailable',
  })
  expect(await installations(sandbox.journal)).toEqual([])
})
