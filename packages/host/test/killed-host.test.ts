import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { dataFolder, open, quick } from './fixtures/data.ts'
import { survivors } from './fixtures/survivors.ts'

const script = fileURLToPath(new URL('./fixtures/doomed-host.ts', import.meta.url))
const unborn = fileURLToPath(new URL('./fixtures/doomed-creation.ts', import.meta.url))
const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning']

describe.each(['none', 'bubblewrap'] as const)(
  'a host that is killed in the middle of a turn, %s',
  (isolation) => {
    it('does not touch the processes of another host’s sandbox with the same name, nor does its successor', async () => {
      const other = await open(dataFolder())
      const same = await other.create({ id: 'doomed', local: { isolation } })
      const mine = await same.spawn('sleep 31337')
      const data = dataFolder()
      const host = spawn(process.execPath, [...flags, script, data, isolation], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      await once(host.stdout, 'data')
      host.kill('SIGKILL')
      await once(host, 'exit')

      const next = await open(data)
      const sandbox = await next.attach('doomed')
      await sandbox.spawn('sleep 31337')
      expect(await same.exec(`kill -0 ${mine.pid}`)).toMatchObject({ outcome: 'ok' })
      await next.close()
      expect(await same.exec(`kill -0 ${mine.pid}`)).toMatchObject({ outcome: 'ok' })
      await other.close()
      expect(survivors('doomed')).toEqual([])
    })

    it('leaves no process, and its successor closes open work and resumes', async () => {
      const data = dataFolder()
      const host = spawn(process.execPath, [...flags, script, data, isolation], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      await once(host.stdout, 'data')
      expect(survivors('doomed').length).toBeGreaterThan(0)
      host.kill('SIGKILL')
      await once(host, 'exit')

      const next = await open(data)
      expect(survivors('doomed')).toEqual([])
      const sandbox = await next.attach('doomed')
      const { events } = await sandbox.journal.read()
      for (const [start, end] of [
        ['turn.started', 'turn.finished'],
        ['permission.requested', 'permission.resolved'],
        ['agent.started', 'agent.exited'],
        ['process.started', 'process.exited'],
      ] as const) {
        const counted = (type: string) => events.filter((event) => event.type === type).length
        expect([end, counted(end)]).toEqual([end, counted(start)])
      }
      const last = events.filter(({ type }) => type === 'turn.finished').at(-1)
      expect(last?.data).toMatchObject({ outcome: 'interrupted', errorCode: 'interrupted' })

      expect(await sandbox.sessions.list()).toMatchObject([
        { id: 'talk', agent: 'demo', state: 'closed', turns: 2 },
      ])
      const session = await sandbox.sessions.resume('talk', { env: quick })
      expect(session.permissions).toEqual([])
      await session.prompt('/say here again')
      const restored = (await sandbox.journal.read({ types: ['session.updated'] })).events
      expect(restored.map(({ data }) => ('restored' in data ? data.restored : ''))).toContain('resume')
      expect(JSON.stringify(await session.transcript())).toContain('pomegranate')
    })
  },
)

describe('a host that is killed while it prepares a sandbox', () => {
  it('leaves a sandbox that its successor lists and prepares from the beginning', async () => {
    const data = dataFolder()
    const host = spawn(process.execPath, [...flags, unborn, data], { stdio: ['ignore', 'ignore', 'inherit'] })
    await expect.poll(() => survivors('unborn').length, { timeout: 20_000 }).toBeGreaterThan(0)
    host.kill('SIGKILL')
    await once(host, 'exit')

    const next = await open(data)
    expect(await next.list()).toMatchObject([{ id: 'unborn', state: 'stopped' }])
    writeFileSync(join(data, 'go'), '')
    const sandbox = await next.attach('unborn')
    const bytes = await new Response(await sandbox.files.read('bytes.bin')).bytes()
    expect([...bytes]).toEqual([0, 255, 1])
    expect(await next.list()).toMatchObject([{ id: 'unborn', state: 'running' }])
  })
})
