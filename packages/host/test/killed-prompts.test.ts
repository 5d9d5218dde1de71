import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import type { HostSandbox } from '../src/index.ts'
import { dataFolder, open, quick } from './fixtures/data.ts'

const script = fileURLToPath(new URL('./fixtures/doomed-prompts.ts', import.meta.url))
const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning']

const eventsOf = async (sandbox: HostSandbox, types: readonly string[]) =>
  (await sandbox.journal.read({ types })).events.filter((event) => 'seq' in event)

it('drops the queued prompts of a killed host once, and runs them when they are sent again', async () => {
  const data = dataFolder()
  const doomed = spawn(process.execPath, [...flags, script, data], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(doomed.stdout, 'data')
  doomed.kill('SIGKILL')
  await once(doomed, 'exit')

  const second = await open(data)
  await (await second.attach('waiting')).sessions.list()
  await second.close()
  const third = await open(data)
  const sandbox = await third.attach('waiting')
  expect(await eventsOf(sandbox, ['prompt.dropped'])).toMatchObject([
    {
      session: 'talk',
      turn: 'turn_one',
      actor: 'bob',
      run: 'run_bob',
      data: { reason: 'interrupted', prompt: [{ type: 'text', text: '/say one' }] },
    },
    { session: 'talk', turn: 'turn_two', data: { reason: 'interrupted' } },
  ])

  const lastTurn = { id: 'turn_running', outcome: 'interrupted' }
  expect(await sandbox.sessions.list()).toMatchObject([{ state: 'closed', turns: 1, lastTurn }])
  expect(await (await third.look('waiting')).sessions.get('talk')).toMatchObject({ turns: 1, lastTurn })
  const session = await sandbox.sessions.resume('talk', { env: quick })
  expect(session.info).toMatchObject({ turns: 1, lastTurn })
  const interrupted = await session.prompt('/stall', { turn: 'turn_running' })
  expect(interrupted).toEqual({ turn: 'turn_running', outcome: 'interrupted' })
  const again = ['one', 'two'].map((name) => session.prompt(`/say ${name}`, { turn: `turn_${name}` }))
  expect(await Promise.all(again)).toMatchObject([{ outcome: 'ok' }, { outcome: 'ok' }])
  await expect(session.prompt('/say other', { turn: 'turn_running' })).rejects.toMatchObject({
    code: 'turn_exists',
  })
  const edges = await eventsOf(sandbox, ['turn.started', 'turn.finished'])
  expect(edges.map(({ type, turn, actor }) => [type, turn, actor])).toEqual([
    ['turn.started', 'turn_running', 'ada'],
    ['turn.finished', 'turn_running', 'ada'],
    ['turn.started', 'turn_one', undefined],
    ['turn.finished', 'turn_one', undefined],
    ['turn.started', 'turn_two', undefined],
    ['turn.finished', 'turn_two', undefined],
  ])
})
