import { connect } from '@vitrine/client'
import { inProcessSandboxClient } from '@vitrine/host'
import type { JournalReader, SandboxClient, SandboxLook } from '@vitrine/protocol'
import { readPages } from '@vitrine/protocol'
import { describe, expect, it, onTestFinished } from 'vitest'
import { InProcessDaemon } from './daemons.ts'

async function openDaemon(): Promise<InProcessDaemon> {
  const daemon = await InProcessDaemon.open()
  onTestFinished(() => daemon.close())
  return daemon
}

const observers: readonly [string, (daemon: InProcessDaemon) => Pick<SandboxClient, 'look'>][] = [
  ['a host', ({ host }) => host],
  ['a client with a read token', ({ url, readToken }) => connect({ url, token: readToken })],
]

/** A sandbox with a session that had a turn, a process and changed files. */
async function makeSandbox({ client }: InProcessDaemon) {
  const sandbox = await client.create({ id: 'one', local: { isolation: 'none' } })
  const session = await sandbox.openSession({ agent: 'demo', id: 'talk' })
  await session.prompt('/say hello')
  await sandbox.files.write('kept.txt', 'first')
  await sandbox.files.write('gone.txt', 'x')
  await sandbox.files.remove('gone.txt')
  await sandbox.files.flush()
  const process = await sandbox.spawn(['sh', '-c', 'exit 3'], { owner: 'me' })
  await process.exit
  return { sandbox, session, process }
}

async function lookAtAll(look: SandboxLook) {
  return {
    sessions: await look.sessions.list(),
    session: await look.sessions.get('talk'),
    processes: await look.processes.list(),
    files: await look.files.changed(),
    ports: await look.ports.list(),
  }
}

async function seqOf(journal: JournalReader): Promise<number> {
  let last = 0
  for await (const { events } of readPages(journal))
    for (const item of events) if ('seq' in item) last = item.seq
  return last
}

describe.each(observers)('looking with %s', (_name, observerOf) => {
  it('shows a running sandbox as it is, and leaves nothing in its journal', async () => {
    const daemon = await openDaemon()
    const { sandbox, session, process } = await makeSandbox(daemon)
    const look = await observerOf(daemon).look('one')
    const before = await seqOf(sandbox.journal)
    const { sessions, session: detail, processes, files, ports } = await lookAtAll(look)
    expect(sessions).toMatchObject([
      {
        ...session.info,
        activity: { queued: [], waiting: [], outcome: 'ok', last: { seq: expect.any(Number) } },
      },
    ])
    expect(detail).toEqual({ ...sessions[0], permissions: [], questions: [] })
    expect(processes).toContainEqual(await sandbox.processes.get(process.id))
    expect(files).toMatchObject({ complete: true, files: [{ path: 'kept.txt', change: 'created' }] })
    expect(files.files[0]?.after).toMatch(/^sha256:/)
    expect(ports).toEqual([])
    // The call of `processes.get` above is an operation, and nothing else was written.
    expect(await seqOf(sandbox.journal)).toBe(before + 2)
  })

  it('shows a permission that waits, and the prompt behind it', async () => {
    const daemon = await openDaemon()
    const sandbox = await daemon.client.create({ id: 'one', local: { isolation: 'none' } })
    const session = await sandbox.openSession({ agent: 'demo', id: 'talk', permissions: { default: 'ask' } })
    const running = session.prompt('/run echo hi', { turn: 'turn_a' })
    const look = await observerOf(daemon).look('one')
    await expect.poll(async () => (await look.sessions.get('talk')).activity.waiting.length).toBe(1)
    const queued = session.prompt('/say later', { turn: 'turn_b' })
    await expect.poll(async () => (await look.sessions.get('talk')).activity.queued.length).toBe(1)
    const [summary] = await look.sessions.list()
    const { permissions, activity } = await look.sessions.get('talk')
    expect(summary).toMatchObject({ state: 'open', busy: true, activity })
    expect(activity).toMatchObject({
      turn: { id: 'turn_a' },
      queued: [{ turn: 'turn_b', text: '/say later' }],
      waiting: [{ kind: 'permission', id: permissions[0]?.id, turn: 'turn_a', text: expect.any(String) }],
    })
    await session.respondPermission(permissions[0]?.id ?? '', 'allow_once')
    await Promise.all([running, queued])
    const after = await look.sessions.get('talk')
    expect(after).toMatchObject({
      turns: 2,
      busy: false,
      permissions: [],
      activity: { queued: [], waiting: [] },
    })
    expect(after.activity).not.toHaveProperty('turn')
  })

  it('shows live commands and requests masked, as events are', async () => {
    const daemon = await openDaemon()
    const secret = 'a-secret-of-4711'
    const sandbox = await daemon.client.create({
      id: 'one',
      local: { isolation: 'none' },
      secrets: { KEY: secret },
    })
    const process = await sandbox.spawn(['sleep', '1000', secret])
    const session = await sandbox.openSession({ agent: 'demo', id: 'talk', permissions: { default: 'ask' } })
    const running = session.prompt(`/run echo ${secret}`)
    const look = await observerOf(daemon).look('one')
    await expect.poll(async () => (await look.sessions.get('talk')).permissions.length).toBe(1)
    expect(JSON.stringify(session.permissions)).toContain(secret)
    expect((await look.processes.get(process.id)).argv).toEqual(['sleep', '1000', '[redacted:KEY]'])
    expect(JSON.stringify(await lookAtAll(look))).not.toContain(secret)
    await session.cancel()
    await running
    await process.kill()
  })

  it.each(['stopped', 'destroyed', 'of an earlier host'] as const)(
    'reads a sandbox that is %s from its journal, and does not start it',
    async (state) => {
      const daemon = await openDaemon()
      const { sandbox, session, process } = await makeSandbox(daemon)
      const live = await lookAtAll(await daemon.host.look('one'))
      if (state === 'destroyed') await sandbox.lifecycle.destroy()
      else if (state === 'stopped') await sandbox.lifecycle.shutdown()
      else await daemon.restart()
      const look = await observerOf(daemon).look('one')
      const before = await seqOf(look.journal)
      const seen = await lookAtAll(look)
      const { agentSession } = session.info
      expect(seen.sessions).toMatchObject([
        {
          id: 'talk',
          agent: 'demo',
          state: 'closed',
          turns: 1,
          busy: false,
          agentSession,
          cwd: session.info.cwd,
        },
      ])
      expect(seen.session).toMatchObject({ ...seen.sessions[0], permissions: [], questions: [] })
      expect(seen.session.activity).toMatchObject({ outcome: 'ok' })
      const { startedAt: _started, ...ended } = live.processes.find(({ id }) => id === process.id)!
      expect(await look.processes.get(process.id)).toMatchObject(ended)
      expect(seen.processes).toContainEqual(await look.processes.get(process.id))
      expect(seen.processes.every((one) => one.state === 'exited')).toBe(true)
      expect(seen.files).toEqual(live.files)
      expect(seen.ports).toEqual([])
      expect(daemon.host.info('one')?.state).toBe(state === 'destroyed' ? 'destroyed' : 'stopped')
      expect(await seqOf(look.journal)).toBe(before)
    },
  )

  it('refuses what is unknown, by its code, and options that do not exist', async () => {
    const daemon = await openDaemon()
    await daemon.client.create({ id: 'one', local: { isolation: 'none' } })
    const observer = observerOf(daemon)
    await expect(observer.look('never')).rejects.toMatchObject({ code: 'not_found' })
    expect(await daemon.host.store.journals()).not.toContain('never')
    const look = await observer.look('one')
    await expect(look.sessions.get('never')).rejects.toMatchObject({ code: 'session_not_found' })
    await expect(look.processes.get('never')).rejects.toMatchObject({ code: 'not_found' })
    await daemon.host.destroy('one')
    await expect(look.processes.get('never')).rejects.toMatchObject({ code: 'not_found' })
    await expect(look.ports.list({ signl: 1 } as object)).rejects.toThrow('signal')
  })

  it('can be cancelled', async () => {
    const daemon = await openDaemon()
    await daemon.client.create({ id: 'one', local: { isolation: 'none' } })
    const look = await observerOf(daemon).look('one')
    const signal = AbortSignal.abort()
    await expect(look.sessions.list({ signal })).rejects.toMatchObject({ code: 'cancelled' })
    await expect(look.files.changed({ signal })).rejects.toMatchObject({ code: 'cancelled' })
  })
})

it('looking works on the sandbox of a function too', async () => {
  const client = inProcessSandboxClient({ onPrompt: (prompt) => [prompt] })
  const sandbox = await client.create()
  onTestFinished(() => sandbox.close())
  const session = await sandbox.openSession({ agent: 'in-process' })
  await session.prompt('hi')
  const look = await client.look(sandbox.id)
  expect(await look.sessions.list()).toMatchObject([{ id: session.id, state: 'open', turns: 1 }])
  await expect(client.look('never')).rejects.toMatchObject({ code: 'not_found' })
})
