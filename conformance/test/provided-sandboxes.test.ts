import { chmodSync, existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Host, openHost } from '@vitrine/host'
import type { CreateSandboxOptions, SandboxClient, SandboxProvider } from '@vitrine/protocol'
import { describe, expect, it, onTestFinished } from 'vitest'
import { InProcessDaemon } from './daemons.ts'

interface Scene {
  readonly daemon: InProcessDaemon
  /** The host behind the provider. */
  readonly inner: Host
  readonly folder: string
}

/** A daemon with a provider of folders, each with a host of its own behind it. */
async function openScene(): Promise<Scene> {
  const base = await mkdtemp(join('/var/tmp', 'vitrine-provider-'))
  chmodSync(base, 0o711)
  const folder = join(base, 'folders')
  const inner = await openHost({
    data: join(base, 'inner'),
    install: 'never',
    agents: [{ name: 'echo', onPrompt: (prompt) => [`You said: ${prompt}`] }],
  })
  const provider: SandboxProvider<{ name?: string }> = {
    name: 'folders',
    takes: ['env', 'workspace', 'secrets'],
    async create({ name = 'work' }, { sandbox: id, env, workspace, secrets, signal }) {
      const root = join(folder, name)
      await mkdir(root, { recursive: true })
      const given = { ...(env && { env }), ...(workspace && { workspace }), ...(secrets && { secrets }) }
      await inner.create({ id, local: { root, isolation: 'none' }, ...given, signal })
      return `folder ${id}`
    },
    open: (id) => inner.attach(id.slice('folder '.length)),
    async destroy(id) {
      await inner.destroy(id.slice('folder '.length))
      await rm(folder, { recursive: true, force: true })
    },
  }
  const daemon = await InProcessDaemon.open({ providers: [provider] })
  onTestFinished(async () => {
    await daemon.close()
    await inner.close()
    await rm(base, { recursive: true, force: true })
  })
  return { daemon, inner, folder }
}

const clients: readonly [string, (daemon: InProcessDaemon) => SandboxClient][] = [
  ['a host', ({ host }) => host],
  ['a client over HTTP', ({ client }) => client],
]

describe.each(clients)('a sandbox of a provider of one’s own, through %s', (_name, clientOf) => {
  it('runs commands and has files, processes, ports and a session, as its options say', async () => {
    const { daemon, folder } = await openScene()
    const client = clientOf(daemon)
    const sandbox = await client.create({
      id: 'one',
      provider: 'folders',
      spec: { name: 'mine' },
      env: { GREETING: 'hello' },
      secrets: { API_KEY: 'a-long-secret-value' },
      workspace: { files: { 'a.bin': Uint8Array.of(0, 255) } },
      labels: { team: 'red' },
    })
    expect(sandbox).toMatchObject({ id: 'one', provider: 'folders', root: join(folder, 'mine') })
    expect(sandbox.capabilities).toMatchObject({ isolation: 'none' })
    expect((await sandbox.exec('printenv GREETING API_KEY')).stdout).toBe('hello\na-long-secret-value\n')
    await sandbox.files.write('c.txt', 'text')
    expect(await readFile(join(folder, 'mine/c.txt'), 'utf8')).toBe('text')
    expect([...(await readFile(join(folder, 'mine/a.bin')))]).toEqual([0, 255])
    const process = await sandbox.spawn(['cat'])
    expect(await sandbox.processes.get(process.id)).toMatchObject({ state: 'running' })
    await process.kill()
    expect(await sandbox.ports.list()).toEqual([])
    const session = await sandbox.openSession({ agent: 'echo' })
    expect(await session.prompt('hi')).toMatchObject({ outcome: 'ok' })
    expect(JSON.stringify(await session.transcript())).toContain('You said: hi')
    expect(await client.list({ provider: 'folders', labels: { team: 'red' } })).toMatchObject([
      { id: 'one', provider: 'folders', state: 'running' },
    ])
    await expect(sandbox.files.read('never')).rejects.toMatchObject({ code: 'file_not_found' })
  })

  it('has its events in the host’s own journal as soon as a call is done, with the same hashes', async () => {
    const { daemon, inner } = await openScene()
    const sandbox = await clientOf(daemon).create({ id: 'one', provider: 'folders' })
    await sandbox.as({ actor: 'ann', run: 'run_1' }).exec('echo seen')
    const { events } = await sandbox.journal.read({ types: ['operation.finished'], run: 'run_1' })
    expect(events).toMatchObject([{ actor: 'ann', run: 'run_1', data: { op: 'exec', outcome: 'ok' } }])
    const origin = await inner.store.journal('one')
    const mirror = await daemon.host.store.journal('one')
    expect(mirror.head).toEqual(origin.head)
    expect(await mirror.verify({ head: origin.head })).toMatchObject({ ok: true })
    const look = await clientOf(daemon).look('one')
    expect(await look.processes.list()).toHaveLength(1)
  })

  it('comes back after a restart of its host with its journal continued, and is destroyed for good', async () => {
    const { daemon, folder } = await openScene()
    const client = clientOf(daemon)
    const first = await client.create({ id: 'one', provider: 'folders' })
    await first.exec('echo kept > kept.txt')
    await daemon.restart()
    const again = clientOf(daemon)
    expect(await again.list()).toMatchObject([{ id: 'one', provider: 'folders', state: 'stopped' }])
    const sandbox = await again.attach('one')
    expect((await sandbox.exec('cat kept.txt')).stdout).toBe('kept\n')
    const mirror = await daemon.host.store.journal('one')
    expect(await mirror.verify()).toMatchObject({ ok: true, missing: 0 })
    await sandbox.lifecycle.destroy()
    await again.destroy('one')
    expect(existsSync(folder)).toBe(false)
    expect(await again.list({ state: 'destroyed' })).toMatchObject([{ id: 'one', state: 'destroyed' }])
    await expect(again.attach('one')).rejects.toMatchObject({ code: 'sandbox_destroyed' })
    const { events } = await (await again.look('one')).journal.read({ types: ['sandbox.destroyed'] })
    expect(events).toHaveLength(1)
  })

  it.each([
    [{ image: 'node:24' }, 'image'],
    [{ idleStopMs: 60_000 }, 'idleStopMs'],
    [{ maxAgeMs: 60_000 }, 'maxAgeMs'],
    [{ policy: { otherwise: 'deny' } }, 'policy'],
    [{ egress: [] }, 'egress'],
    [{ limits: { pids: 5 } }, 'limits'],
    [{ local: {} }, 'local'],
  ] as readonly [CreateSandboxOptions, string][])(
    'is not created with %j, which its provider does not take',
    async (options, name) => {
      const { daemon } = await openScene()
      await expect(clientOf(daemon).create({ provider: 'folders', ...options })).rejects.toMatchObject({
        code: 'unsupported',
        message: `${name}: the provider folders does not take this option.`,
      })
      expect(await daemon.host.list()).toEqual([])
    },
  )

  it('is removed by its provider at the end of its life', async () => {
    const { daemon, inner, folder } = await openScene()
    const client = clientOf(daemon)
    await client.create({ id: 'mortal', provider: 'folders', ttlMs: 50 })
    await expect
      .poll(() => client.list({ state: 'destroyed' }), { timeout: 20_000 })
      .toMatchObject([{ id: 'mortal', ttlMs: 50 }])
    expect(inner.info('mortal')?.state).toBe('destroyed')
    expect(existsSync(folder)).toBe(false)
  })

  it('is cancelled by its signal, and nothing of it is left', async () => {
    const { daemon, inner } = await openScene()
    const cancellation = new AbortController()
    const creating = clientOf(daemon).create({
      id: 'cut',
      provider: 'folders',
      workspace: { setup: ['sleep 1000'] },
      signal: cancellation.signal,
    })
    creating.catch(() => undefined)
    await expect.poll(() => inner.infos().length, { timeout: 20_000 }).toBe(1)
    cancellation.abort()
    await expect(creating).rejects.toMatchObject({ code: 'cancelled' })
    expect(await daemon.host.list()).toEqual([])
    await expect.poll(() => inner.infos(), { timeout: 20_000 }).toEqual([])
  })
})
