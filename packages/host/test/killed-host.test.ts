import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { dataFolder, open, quick } from './fixtures/data.ts'

const script = fileURLToPath(new URL('./fixtures/doomed-host.ts', import.meta.url))

describe.each(['none', 'bubblewrap'] as const)(
  'a host that is killed in the middle of a turn, %s',
  (isolation) => {
    it('leaves no process, and its successor closes what was open and goes on', async () => {
      const data = dataFolder()
      const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning']
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

/** Processes that carry the sandbox's mark. */
function survivors(sandbox: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name)
    if (!Number.isInteger(pid)) return []
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0')
      return environment.includes(`VITRINE_SANDBOX=${sandbox}`) ? [pid] : []
    } catch {
      return []
    }
  })
}
