import { cpSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { dataFolder, open, quick } from './fixtures/data.ts'

describe('a host', () => {
  it('keeps its sandboxes over a restart: workspace, journal and options', async () => {
    const data = dataFolder()
    const first = await open(data)
    const sandbox = await first.create({
      id: 'kept',
      labels: { team: 'red' },
      local: { env: { COLOUR: 'red' }, isolation: 'none' },
    })
    await sandbox.files.write('notes.txt', 'remember me')
    expect(await first.list()).toMatchObject([{ id: 'kept', state: 'running', labels: { team: 'red' } }])
    await first.close()

    const second = await open(data)
    expect(await second.list()).toMatchObject([{ id: 'kept', state: 'stopped' }])
    const again = await second.attach('kept')
    expect(await second.attach('kept')).toBe(again)
    expect((await again.exec('cat notes.txt; echo " $COLOUR"')).stdout).toBe('remember me red\n')
    const { events } = await again.journal.read({ types: ['sandbox.*'] })
    expect(events.map(({ type }) => type)).toEqual([
      'sandbox.created',
      ...expectedDegraded(events),
      'sandbox.ready',
      'sandbox.stopped',
      ...expectedDegraded(events),
      'sandbox.ready',
    ])
  })

  it('records its start and its end in its own journal', async () => {
    const data = dataFolder()
    await (await open(data)).close()
    const host = await open(data)
    const journal = await host.store.journal('host')
    const { events } = await journal.read()
    expect(events.map(({ type }) => type)).toEqual(['host.started', 'host.stopped', 'host.started'])
  })

  it('is the only owner of its data directory', async () => {
    const data = dataFolder()
    await open(data)
    await expect(open(data)).rejects.toMatchObject({ code: 'store_owned' })
  })

  it('reads nothing in a data directory before it owns it', async () => {
    const data = dataFolder()
    await open(data)
    writeFileSync(join(data, 'records', 'half.json'), '{"id":')
    await expect(open(data)).rejects.toMatchObject({ code: 'store_owned' })
  })

  it('refuses unknown ids, existing ids and unknown providers', async () => {
    const host = await open(dataFolder())
    await host.create({ id: 'one', local: { isolation: 'none' } })
    await expect(host.attach('two')).rejects.toMatchObject({ code: 'not_found' })
    await expect(host.create({ id: 'one' })).rejects.toMatchObject({ code: 'sandbox_exists' })
    await expect(host.create({ provider: 'moon' })).rejects.toMatchObject({ code: 'argument_invalid' })
    await expect(host.create({ id: '../up' })).rejects.toMatchObject({ code: 'argument_invalid' })
    expect((await host.list()).map(({ id }) => id)).toEqual(['one'])
  })

  it('removes a sandbox permanently and keeps its journal', async () => {
    const data = dataFolder()
    const host = await open(data)
    const sandbox = await host.create({ id: 'gone', local: { isolation: 'none' } })
    await host.destroy('gone')
    await host.destroy('gone')
    await expect(sandbox.exec('true')).rejects.toMatchObject({ code: 'sandbox_destroyed' })
    await expect(host.attach('gone')).rejects.toMatchObject({ code: 'sandbox_destroyed' })
    await expect(host.create({ id: 'gone' })).rejects.toMatchObject({ code: 'sandbox_exists' })
    await host.close()
    const later = await open(data)
    await expect(later.attach('gone')).rejects.toMatchObject({ code: 'sandbox_destroyed' })
    const journal = await later.store.journal('gone')
    expect((await journal.read({ types: ['sandbox.destroyed'] })).events).toHaveLength(1)
  })

  it('refuses another directory at the path of a workspace', async () => {
    const data = dataFolder()
    const root = join(dataFolder(), 'project')
    mkdirSync(root)
    const first = await open(data)
    await first.create({ id: 'project', local: { root, isolation: 'none' } })
    await first.close()
    renameSync(root, `${root}-old`)
    const second = await open(data)
    await expect(second.attach('project')).rejects.toMatchObject({ code: 'sandbox_destroyed' })
    mkdirSync(root)
    await expect(second.attach('project')).rejects.toMatchObject({ code: 'sandbox_replaced' })
    rmSync(root, { recursive: true })
    renameSync(`${root}-old`, root)
    await second.attach('project')
  })

  it('attaches a sandbox of a data directory that was restored from a copy, here or elsewhere', async () => {
    const data = dataFolder()
    const first = await open(data)
    const sandbox = await first.create({ id: 'shop', local: { isolation: 'none' } })
    await sandbox.files.write('menu.txt', 'soup')
    await first.close()
    for (const restored of [data, dataFolder()]) {
      renameSync(data, `${data}-old`)
      rmSync(restored, { recursive: true, force: true })
      cpSync(`${data}-old`, restored, { recursive: true })
      rmSync(`${data}-old`, { recursive: true })
      const host = await open(restored)
      expect((await (await host.attach('shop')).exec('cat menu.txt')).stdout).toBe('soup')
      await host.close()
    }
  })

  it('refuses a link in the place of a workspace in its data directory', async () => {
    const data = dataFolder()
    const first = await open(data)
    const { root } = await first.create({ id: 'shop', local: { isolation: 'none' } })
    await first.close()
    renameSync(root, `${root}-old`)
    symlinkSync(`${root}-old`, root)
    const second = await open(data)
    await expect(second.attach('shop')).rejects.toMatchObject({ code: 'sandbox_replaced' })
    rmSync(root)
    await expect(second.attach('shop')).rejects.toMatchObject({ code: 'sandbox_destroyed' })
  })

  it('ends agents that ignore the cancel and the end of their input, and closes once', async () => {
    const host = await open(dataFolder())
    const sandbox = await host.create({ local: { isolation: 'none' } })
    const env = { ...quick, VITRINE_DEMO_IGNORE_EOF: '1' }
    const session = await sandbox.openSession({ agent: 'demo', env })
    const turn = session.prompt('/stall-hard').catch((error: unknown) => error)
    await expect.poll(() => session.info.busy).toBe(true)
    const [agent] = (await sandbox.processes.list()).filter(({ owner }) => owner === 'demo')
    expect(agent?.pid).toBeGreaterThan(0)
    await Promise.all([host.close(), host.close()])
    expect(() => process.kill(agent?.pid ?? 0, 0)).toThrow('ESRCH')
    expect(await turn).toBeDefined()
    await expect(host.create()).rejects.toMatchObject({ code: 'host_closed' })
    await expect(host.attach(sandbox.id)).rejects.toMatchObject({ code: 'host_closed' })
  })

  it('lists its agents, custom ones first, without their secrets', async () => {
    const host = await open(dataFolder(), {
      agents: [
        { name: 'mine', command: ['node', 'agent.mjs'] },
        { name: 'echo', onPrompt: (prompt) => prompt },
      ],
    })
    const agents = await host.listAgents()
    expect(agents.slice(0, 2)).toMatchObject([
      { name: 'mine', from: 'command' },
      { name: 'echo', from: 'function' },
    ])
    expect(agents.find(({ name }) => name === 'demo')).toMatchObject({ installed: true, from: 'builtin' })
    expect(agents.find(({ name }) => name === 'claude')).toMatchObject({ installed: false, pinned: '0.99.1' })
  })
})

function expectedDegraded(events: readonly { readonly type: string }[]): string[] {
  const count = events.filter(({ type }) => type === 'sandbox.degraded').length
  return Array.from({ length: count / 2 }, () => 'sandbox.degraded')
}
