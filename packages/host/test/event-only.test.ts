import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { CreateSandboxOptions, VitrineError } from '@vitrine/protocol'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type HostSandbox, inProcessSandboxClient } from '../src/index.ts'

async function created(options: CreateSandboxOptions = {}): Promise<HostSandbox> {
  const sandbox = await inProcessSandboxClient({ onPrompt: (prompt) => [prompt] }).create(options)
  onTestFinished(() => sandbox.close())
  return sandbox
}

async function first(stream: AsyncIterable<unknown>): Promise<unknown> {
  for await (const item of stream) return item
  return undefined
}

const bytes = new Uint8Array()

/** One call of each member that needs files or a machine. */
const refusedCalls: Readonly<Record<string, (sandbox: HostSandbox) => Promise<unknown>>> = {
  exec: (sandbox) => sandbox.exec('true'),
  spawn: (sandbox) => sandbox.spawn('true'),
  ptyExecStart: (sandbox) => sandbox.ptyExecStart({ cmd: 'true' }),
  ptyWriteStdin: (sandbox) => sandbox.ptyWriteStdin({ sessionId: 1 }),
  ptyTerminateAll: (sandbox) => sandbox.ptyTerminateAll(),
  persist: (sandbox) => sandbox.persist(),
  hydrate: (sandbox) => sandbox.hydrate(bytes),
  'files.read': ({ files }) => files.read('a'),
  'files.write': ({ files }) => files.write('a', 'x'),
  'files.list': ({ files }) => files.list('.'),
  'files.stat': ({ files }) => files.stat('a'),
  'files.exists': ({ files }) => files.exists('a'),
  'files.mkdir': ({ files }) => files.mkdir('a'),
  'files.move': ({ files }) => files.move('a', 'b'),
  'files.remove': ({ files }) => files.remove('a'),
  'files.chmod': ({ files }) => files.chmod('a', 0o600),
  'files.search': ({ files }) => files.search('.', {}),
  'files.watch': ({ files }) => first(files.watch()),
  'files.flush': ({ files }) => files.flush(),
  'files.upload': ({ files }) => files.upload('.', bytes),
  'files.download': ({ files }) => files.download('.'),
  'files.uploadDirectory': ({ files }) => files.uploadDirectory('.'),
  'files.downloadDirectory': ({ files }) => files.downloadDirectory('.'),
  'files.extract': ({ files }) => files.extract('a.zip'),
  'processes.get': ({ processes }) => processes.get('p'),
  'processes.logs': ({ processes }) => processes.logs('p'),
  'processes.follow': ({ processes }) => first(processes.follow('p')),
  'processes.input': ({ processes }) => processes.input('p', 'x'),
  'processes.resize': ({ processes }) => processes.resize('p', 80, 24),
  'processes.signal': ({ processes }) => processes.signal('p', 'SIGTERM'),
  'processes.stop': ({ processes }) => processes.stop('p'),
  'processes.kill': ({ processes }) => processes.kill('p'),
  'processes.attach': ({ processes }) => processes.attach('p'),
  'processes.remove': ({ processes }) => processes.remove('p'),
  'ports.list': ({ ports }) => ports.list(),
  'ports.resolve': ({ ports }) => ports.resolve(80),
  'ports.preview': ({ ports }) => ports.preview(80),
  'ports.waitFor': ({ ports }) => ports.waitFor(80),
  'lifecycle.pause': ({ lifecycle }) => lifecycle.pause(),
  'lifecycle.resume': ({ lifecycle }) => lifecycle.resume(),
  'lifecycle.skipOnPersist': ({ lifecycle }) => lifecycle.skipOnPersist('a'),
  'lifecycle.onBeforeStop with a command': ({ lifecycle }) => lifecycle.onBeforeStop('true'),
  'openSession with an agent that is a program': (sandbox) => sandbox.openSession({ agent: 'demo' }),
  'openSession with `tools`': (sandbox) =>
    sandbox.openSession({
      agent: 'in-process',
      tools: [{ name: 't', description: 'd', input: { type: 'object' }, run: () => 'x' }],
    }),
}

describe('an event-only sandbox', () => {
  it('refuses each member that needs files or commands, by its name, and records no operation for it', async () => {
    const sandbox = await created()
    const messages = await Promise.all(
      Object.values(refusedCalls).map((call) =>
        call(sandbox).then(
          () => 'It succeeded.',
          ({ code, message }: VitrineError) => `${code} ${message}`,
        ),
      ),
    )
    expect(messages).toEqual(
      Object.keys(refusedCalls).map(
        (member) =>
          `unsupported ${member}: this sandbox is event-only. Give its client a \`workdir\`, which turns on files and commands.`,
      ),
    )
    const { events } = await sandbox.journal.read({ types: ['operation.started'] })
    expect(events.map(({ data }) => 'op' in data && data.op)).toEqual(['start'])
  })

  it('claims neither files nor commands, in its journal too, and has no processes', async () => {
    const sandbox = await created()
    expect(sandbox.capabilities).toMatchObject({ commands: false, files: false, watching: 'none' })
    const { events } = await sandbox.journal.read({ types: ['sandbox.ready'] })
    expect(events).toMatchObject([{ data: { capabilities: sandbox.capabilities } }])
    expect(await sandbox.processes.list()).toEqual([])
  })

  it('works in a process that may neither write files nor start processes', async () => {
    const program = join(import.meta.dirname, 'fixtures/in-process-prompt.ts')
    const flags = [
      '--conditions=source',
      '--permission',
      '--allow-fs-read=*',
      '--disable-warning=ExperimentalWarning',
    ]
    const prompted = (...args: string[]) =>
      promisify(execFile)(process.execPath, [...flags, program, ...args])
    expect((await prompted()).stdout).toBe('ok')
    await expect(prompted('with-workdir-'), 'the permissions are enforced').rejects.toMatchObject({
      stderr: expect.stringContaining('ERR_ACCESS_DENIED'),
    })
  })

  it.each([
    ['workspace', { workspace: { files: {} } }],
    ['env', { env: { A: 'b' } }],
    ['policy', { policy: { deny: ['rm'] } }],
    ['egress', { egress: ['example.org:443'] }],
    ['limits', { limits: { pids: 10 } }],
  ])('refuses the option %s, which it could not carry out', async (option, options) => {
    await expect(created(options)).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(new RegExp(`^${option}: .*workdir`)),
    })
  })

  it('masks secrets in the events of its agent', async () => {
    const sandbox = await created({ secrets: { KEY: 'sesame-1234' } })
    const session = await sandbox.openSession({ agent: 'in-process' })
    await session.prompt('the key is sesame-1234')
    const recorded = JSON.stringify((await sandbox.journal.read()).events)
    expect(recorded).toContain('the key is ')
    expect(recorded).not.toContain('sesame')
  })

  it('stops and starts again, runs its hooks, and restores its sessions', async () => {
    const sandbox = await created()
    const { id } = await sandbox.openSession({ agent: 'in-process' })
    const hooks: string[] = []
    await sandbox.lifecycle.onBeforeStop(() => void hooks.push('run'))
    await sandbox.lifecycle.stop()
    expect([sandbox.isUp, await sandbox.lifecycle.running(), hooks]).toEqual([false, false, ['run']])
    await sandbox.lifecycle.start()
    const session = await sandbox.sessions.resume(id)
    expect((await session.prompt('again')).outcome).toBe('ok')
    const { events } = await sandbox.journal.read({ types: ['sandbox.*'] })
    expect(events.map(({ type }) => type)).toEqual([
      'sandbox.created',
      'sandbox.ready',
      'sandbox.stopped',
      'sandbox.ready',
    ])
  })

  it('stops although a hook fails, with the error of the hook', async () => {
    const sandbox = await created()
    await sandbox.lifecycle.onBeforeStop(() => {
      throw new Error('not now')
    })
    await expect(sandbox.lifecycle.stop()).rejects.toThrow('not now')
    expect(sandbox.isUp).toBe(false)
  })

  it('is stopped when it is idle, and starts with its next session', async () => {
    const idle = await created({ idleStopMs: 20 })
    await expect.poll(() => idle.isUp).toBe(false)
    await idle.openSession({ agent: 'in-process' })
    const { events } = await idle.journal.read({ types: ['sandbox.ready', 'sandbox.stopped'], limit: 3 })
    expect(events.map(({ type }) => type)).toEqual(['sandbox.ready', 'sandbox.stopped', 'sandbox.ready'])
  })

  it('is destroyed at its age, and its journal stays readable', async () => {
    const client = inProcessSandboxClient({ onPrompt: (prompt) => [prompt] })
    const mortal = await client.create({ ttlMs: 50 })
    await expect.poll(() => client.list({ state: 'all' })).toEqual([])
    await expect(mortal.openSession({ agent: 'in-process' })).rejects.toMatchObject({
      code: 'sandbox_destroyed',
    })
    const { events } = await mortal.journal.read({ types: ['sandbox.destroyed'] })
    expect(events).toMatchObject([{ data: { reason: 'ttl' } }])
  })

  it('does not start again after it was destroyed', async () => {
    const sandbox = await created()
    await sandbox.lifecycle.destroy()
    await sandbox.lifecycle.destroy()
    await expect(sandbox.lifecycle.start()).rejects.toMatchObject({ code: 'sandbox_destroyed' })
    expect(await sandbox.lifecycle.running()).toBe(false)
  })

  it('is not created after its signal was aborted, nor with an id that is none', async () => {
    await expect(created({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'cancelled' })
    await expect(created({ id: '../up' })).rejects.toMatchObject({ code: 'argument_invalid' })
  })
})
