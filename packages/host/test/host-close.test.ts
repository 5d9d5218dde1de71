import { once } from 'node:events'
import { createServer } from 'node:http'
import { createLocalSandbox, local } from '@vitrine/sandbox'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { HostSandbox } from '../src/index.ts'
import { LiveSandboxes } from '../src/live-sandboxes.ts'
import { dataFolder, open } from './fixtures/data.ts'
import { survivors } from './fixtures/survivors.ts'

const isolation = 'none'
const never = () => new Promise<never>(() => undefined)

describe('closing a host', () => {
  it('cancels the preparation of a sandbox and leaves nothing of it', async () => {
    const data = dataFolder()
    const host = await open(data)
    const creating = host.create({ id: 'slow', local: { isolation }, workspace: { setup: ['sleep 31337'] } })
    const failed = expect(creating).rejects.toMatchObject({ code: 'cancelled' })
    await expect.poll(() => survivors('slow').length).toBeGreaterThan(0)
    await host.close()
    expect(survivors('slow')).toEqual([])
    await failed
    expect(await (await open(data)).list()).toEqual([])
  })

  it('ends the agent of a session that is opening, and the opening fails', async () => {
    const host = await open(dataFolder(), {
      agents: [{ name: 'stuck', command: [process.execPath, '-e', stuckAgent] }],
    })
    const sandbox = await host.create({ id: 'opening', local: { isolation } })
    const opening = sandbox.openSession({ agent: 'stuck', mode: 'other' })
    const failed = expect(opening).rejects.toThrow()
    const asked = async () =>
      JSON.stringify((await sandbox.journal.read({ types: ['agent.message'] })).events)
    await expect.poll(asked).toContain('session/set_mode')
    await host.close()
    expect(survivors('opening')).toEqual([])
    await failed
  })

  it('ends the machine of sessions that hang', async () => {
    const host = await open(dataFolder())
    const sandbox = await host.create({ id: 'endless', local: { isolation } })
    await sandbox.spawn('sleep 31337')
    vi.spyOn(sandbox.sessions, 'endAll').mockImplementation(never)
    await host.close()
    expect(survivors('endless')).toEqual([])
  })

  it('kills the processes of a sandbox that does not close', async () => {
    const data = dataFolder()
    const live = new LiveSandboxes(data)
    void live.boot('stubborn', never)
    await using engine = await createLocalSandbox({ id: 'stubborn', provider: local({ data, isolation }) })
    const sleeping = await engine.spawn('sleep 31337')
    await live.closeAll([])
    expect((await sleeping.exit).outcome).not.toBe('ok')
  })

  it('cancels an installation', async () => {
    const asked = Promise.withResolvers<void>()
    // A registry that never responds.
    const registry = createServer(() => asked.resolve()).listen(0, '127.0.0.1')
    onTestFinished(() => {
      registry.closeAllConnections()
      registry.close()
      vi.unstubAllEnvs()
    })
    await once(registry, 'listening')
    const address = registry.address()
    const port = typeof address === 'object' ? address?.port : undefined
    vi.stubEnv('npm_config_registry', `http://127.0.0.1:${port}`)
    const host = await open(dataFolder())
    const failed = expect(host.installAgent('claude')).rejects.toMatchObject({ code: 'cancelled' })
    await asked.promise
    await host.close()
    await failed
    await expect(host.installAgent('claude')).rejects.toMatchObject({ code: 'host_closed' })
  })
})

describe('a sandbox that no longer runs', () => {
  const states = async (end: (sandbox: HostSandbox) => Promise<void>) => {
    const host = await open(dataFolder())
    const sandbox = await host.create({ id: 'one', local: { isolation } })
    const ending = end(sandbox)
    // A caller that arrives meanwhile gets a running sandbox.
    const meanwhile = sandbox.closing === undefined ? undefined : host.attach('one')
    await ending
    const [info] = meanwhile === undefined ? await host.list() : []
    const again = await (meanwhile ?? host.attach('one'))
    expect((await again.exec('echo here')).stdout).toBe('here\n')
    expect(await host.list()).toMatchObject([{ state: 'running' }])
    return { host, sandbox, again, state: info?.state }
  }

  it('a closed sandbox is listed as stopped, and attaching to it starts another', async () => {
    const { sandbox, again } = await states((one) => one.close())
    expect(again).not.toBe(sandbox)
    await expect(sandbox.lifecycle.start()).rejects.toMatchObject({ code: 'sandbox_not_running' })
    const { host } = await states(async (one) => void (await one.as({ actor: 'me' }).lifecycle.stop()))
    await (await host.attach('one')).close()
    expect(await host.list()).toMatchObject([{ state: 'stopped' }])
  })

  it('a sandbox that was shut down is listed as stopped, and attaching to it starts it', async () => {
    const { sandbox, again, state } = await states((one) => one.lifecycle.shutdown())
    expect(state).toBe('stopped')
    expect(again).toBe(sandbox)
  })
})

/** Offers two modes, and never says whether it has taken one. */
const stuckAgent = `
const modes = { currentModeId: 'one', availableModes: [{ id: 'one', name: 'One' }, { id: 'other', name: 'Other' }] }
const results = { initialize: { protocolVersion: 1 }, 'session/new': { sessionId: 's', modes } }
process.on('SIGTERM', () => {})
setInterval(() => {}, 1000)
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line)
  const result = results[method]
  if (result) console.log(JSON.stringify({ jsonrpc: '2.0', id, result }))
})
`
