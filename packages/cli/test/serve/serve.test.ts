import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { version } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { dataFolder, exec, serve, type TestDaemon, vitrine } from '../vitrine-process.ts'

interface Page {
  readonly events: readonly { readonly seq: number; readonly type: string; readonly data: object }[]
}

const modeOf = (path: string) => statSync(path).mode & 0o777

/** Whether a process with exactly this command line runs, according to /proc. */
function isRunning(command: readonly string[]): boolean {
  const line = command.map((word) => `${word}\0`).join('')
  return readdirSync('/proc').some((name) => {
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'latin1') === line
    } catch {
      return false
    }
  })
}

/** The exit code and output of a `serve` that cannot start. */
async function failedServe(...args: string[]) {
  const run = vitrine(['serve', '--port', '0', ...args])
  const { code } = await run.exit()
  return { code, stdout: run.stdout, stderr: run.stderr }
}

function create(daemon: TestDaemon, options: object): Promise<Response> {
  return daemon.fetch('/v1/sandboxes', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(options),
  })
}

describe('the token', () => {
  it('generates the token once, stores it readable only by its owner, and uses it again', async () => {
    const data = dataFolder()
    const first = await serve(data)
    expect(first.token).toMatch(/^[\w-]{43}$/)
    expect(modeOf(join(data, 'token'))).toBe(0o600)
    expect((await first.fetch('/v1/health')).status).toBe(200)
    await first.process.end()
    const second = await serve(data)
    expect(second.token).toBe(first.token)
  })

  it('refuses a token file that others can read, and an empty one', async () => {
    const data = dataFolder()
    const path = join(data, 'token')
    writeFileSync(path, 'a-token-that-everyone-knows')
    chmodSync(path, 0o644)
    const seen = await failedServe('--data', data)
    expect(seen).toMatchObject({ code: 1, stdout: '' })
    expect(seen.stderr).toContain(`chmod 600 ${path}`)
    expect(seen.stderr).not.toContain('everyone-knows')
    writeFileSync(path, '')
    chmodSync(path, 0o600)
    expect((await failedServe('--data', data)).stderr).toContain(`No valid token in ${path}`)
  })

  it('takes named tokens from the command line or the environment and then stores none', async () => {
    const data = dataFolder()
    const tokens = ['--token', 'ci=ci-secret-1234', '--token', 'base64-secret==']
    const daemon = await serve(data, tokens, { env: { VITRINE_TOKEN: 'not-this-one' } })
    expect(daemon.token).toBe('ci-secret-1234')
    const status = async (token: string) =>
      (await daemon.fetch('/v1/health', { headers: { authorization: `Bearer ${token}` } })).status
    expect([await status('ci-secret-1234'), await status('base64-secret==')]).toEqual([200, 200])
    expect([await status('not-this-one'), await status('secret-1234')]).toEqual([401, 401])
    expect(existsSync(join(data, 'token'))).toBe(false)
    await daemon.process.end()
    const other = await serve(data, [], { env: { VITRINE_TOKEN: 'from-the-environment' } })
    expect(other.token).toBe('from-the-environment')
    const seen = await (await exec(other, 'env')).text()
    expect(seen).toContain('PATH=')
    expect(seen).not.toContain('from-the-environment')
  })

  it('allows a read token to read and nothing else', async () => {
    const daemon = await serve(dataFolder(), ['--read-token', 'screen=look-but-not-touch'])
    const headers = { authorization: 'Bearer look-but-not-touch' }
    expect((await daemon.fetch('/v1/events', { headers })).status).toBe(200)
    const refused = await exec(daemon, 'true', headers)
    expect(refused.status).toBe(403)
    expect(await refused.json()).toMatchObject({ detail: expect.stringContaining('screen') })
    expect((await exec(daemon, 'true')).status).toBe(200)
  })

  it('needs no token with --no-token on a loopback address', async () => {
    const daemon = await serve(dataFolder(), ['--no-token'])
    expect(daemon.token).toBeUndefined()
    expect((await daemon.fetch('/v1/health')).status).toBe(200)
    expect(readFileSync(join(daemon.data, 'daemon.json'), 'utf8')).not.toContain('token')
  })

  it('prints the token only in the startup line', async () => {
    const data = dataFolder()
    const secret = 'a-secret-of-some-length'
    const [short, odd] = [
      await failedServe('--data', data, '--token', 'x=short'),
      await failedServe('--data', data, '--token', `o d d=${secret}`),
    ]
    for (const { code, stdout, stderr } of [short, odd]) {
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).not.toMatch(/short|secret/)
      expect(stderr).toMatch(/token/)
    }
    const throwing = `process.on('SIGUSR2', () => { throw new Error('at ${secret}') })`
    const daemon = await serve(data, ['--token', secret], {
      node: ['--import', `data:text/javascript,${throwing}`],
    })
    daemon.process.signal('SIGUSR2')
    await daemon.process.exit()
    expect(daemon.process.stderr).toContain('at [token]')
    expect(daemon.process.stdout.split(secret).length).toBe(2)
    expect(daemon.process.stderr).not.toContain(secret)
  })
})

describe('listening for other machines', () => {
  it('refuses --no-token on an address that other machines can reach', async () => {
    const { code, stderr } = await failedServe('--data', dataFolder(), '--no-token', '--host', '0.0.0.0')
    expect(code).toBe(1)
    expect(stderr).toContain('--no-token: other machines could connect to 0.0.0.0 and run commands here')
  })

  it('refuses --isolation none on an address that other machines can reach', async () => {
    const { code, stderr } = await failedServe(
      '--data',
      dataFolder(),
      '--isolation',
      'none',
      '--host',
      '0.0.0.0',
    )
    expect(code).toBe(1)
    expect(stderr).toContain('pass --allow-unisolated')
  })

  it('refuses a sandbox without isolation on an address that other machines can reach', async () => {
    const daemon = await serve(dataFolder(), ['--host', '0.0.0.0', '--isolation', 'auto'])
    for (const local of [{ isolation: 'none', user: 'root' }, { isolation: 'none' }, { user: 'root' }]) {
      const refused = await create(daemon, { local })
      expect(refused.status).toBe(403)
      expect(await refused.json()).toMatchObject({ code: 'below_floor' })
    }
  })
})

describe('daemon.json', () => {
  it('exists while the daemon listens, readable only by its owner', async () => {
    const daemon = await serve(dataFolder())
    const path = join(daemon.data, 'daemon.json')
    expect(modeOf(path)).toBe(0o600)
    const { startedAt, ...daemonFile } = JSON.parse(readFileSync(path, 'utf8'))
    expect(daemonFile).toEqual({
      url: daemon.url,
      token: daemon.token,
      pid: daemon.process.pid,
      version,
    })
    expect(Date.parse(startedAt)).not.toBeNaN()
    await daemon.process.end()
    expect(existsSync(path)).toBe(false)
  })
})

describe('shutdown', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'ends streams with a reason, leaves no process and exits with 0 on %s',
    async (signal) => {
      const daemon = await serve(dataFolder())
      // A duration that no other process uses.
      const command = ['sleep', `1000.${daemon.process.pid}`]
      await daemon.fetch('/v1/processes', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ command }),
      })
      expect(isRunning(command)).toBe(true)
      const stream = await daemon.fetch('/v1/events', { headers: { accept: 'text/event-stream' } })
      const text = stream.text()
      daemon.process.signal(signal)
      expect(await text).toMatch(/event: end\ndata: \{.*"reason":"closing".*\}\n\n$/)
      expect(await daemon.process.exit()).toEqual({ code: 0, signal: null })
      expect(isRunning(command)).toBe(false)
      expect(daemon.process.stderr).toBe('')
    },
  )

  it('exits at once on a second signal', async () => {
    // A server that never closes.
    const stuck = 'import http from "node:http"; http.Server.prototype.close = () => {}'
    const daemon = await serve(dataFolder(), [], { node: ['--import', `data:text/javascript,${stuck}`] })
    const daemonFile = join(daemon.data, 'daemon.json')
    daemon.process.signal('SIGTERM')
    await expect.poll(() => existsSync(daemonFile)).toBe(false)
    // A signal that follows at once counts as the same Ctrl-C, forwarded by npm.
    await sleep(400)
    daemon.process.signal('SIGTERM')
    expect(await daemon.process.exit()).toEqual({ code: 143, signal: null })
  })

  it('prints and records an uncaught error and exits with 1', async () => {
    const data = dataFolder()
    const throwing = `process.on('SIGUSR2', () => { throw new Error('out of the blue') })`
    const daemon = await serve(data, [], { node: ['--import', `data:text/javascript,${throwing}`] })
    daemon.process.signal('SIGUSR2')
    expect(await daemon.process.exit()).toEqual({ code: 1, signal: null })
    expect(daemon.process.stderr).toContain('out of the blue')
    expect(existsSync(join(data, 'daemon.json'))).toBe(false)
    const next = await serve(data)
    const { events } = await next.read<Page>('/v1/events?scope=host')
    const types = events.map(({ type }) => type)
    expect(types).toEqual(['host.started', 'log.message', 'host.stopped', 'host.started'])
    expect(events[1]?.data).toMatchObject({
      level: 'error',
      message: expect.stringContaining('out of the blue'),
    })
  })

  it('loses nothing on kill -9: the journal of the default sandbox continues with the same token', async () => {
    const data = dataFolder()
    const first = await serve(data)
    await exec(first, 'echo before')
    const { events: before } = await first.read<Page>('/v1/events')
    first.process.signal('SIGKILL')
    expect(await first.process.exit()).toMatchObject({ signal: 'SIGKILL' })
    expect(existsSync(join(data, 'daemon.json'))).toBe(true)
    const second = await serve(data)
    expect(second.token).toBe(first.token)
    await exec(second, 'echo after')
    const { events: after } = await second.read<Page>('/v1/events')
    expect(after.slice(0, before.length)).toEqual(before)
    expect(after.map(({ seq }) => seq)).toEqual(after.map((_, index) => index + 1))
    expect(JSON.stringify(after.slice(before.length))).toContain('echo after')
  })
})

it('a sandbox keeps its policy over kill -9 and with other flags', async () => {
  const data = dataFolder()
  const first = await serve(data)
  const policy = { deny: ['touch *'], otherwise: 'allow' }
  expect((await create(first, { id: 'guarded', local: { isolation: 'none' }, policy })).status).toBe(201)
  const touch = (daemon: TestDaemon) =>
    daemon.fetch('/v1/sandboxes/guarded/exec', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ command: 'touch denied' }),
    })
  expect((await touch(first)).status).toBe(403)
  first.process.signal('SIGKILL')
  await first.process.exit()
  const second = await serve(data, ['--isolation', 'auto'])
  const refused = await touch(second)
  expect(refused.status).toBe(403)
  expect(await refused.json()).toMatchObject({ code: 'gate_refused' })
})

describe('messages', () => {
  it('prints the address, isolation, data directory, agents, the link, what to do next and how to stop it', async () => {
    const data = dataFolder()
    const run = vitrine(['serve', '--port', '0', '--data', data])
    await run.says(/Ctrl-C stops it/)
    const token = readFileSync(join(data, 'token'), 'utf8').trim()
    expect(run.stdout).toMatch(/^Vitrine listens on http:\/\/127\.0\.0\.1:\d+\n/)
    expect(run.stdout).toMatch(/^ {2}isolation {2}(bubblewrap|none.*)$/m)
    expect(run.stdout).toContain(`  data       ${data}\n`)
    expect(run.stdout).toMatch(/^ {2}agents {5}.*demo.*$/m)
    expect(run.stdout).toContain('vitrine events tail')
    expect(run.stdout).toMatch(new RegExp(`http://127\\.0\\.0\\.1:\\d+/ui/#token=${token}\n`))
    await run.end()
    expect(run.stderr).toBe('')
  })

  it('explains a port in use, a data directory in use and a missing root folder', async () => {
    const { url, data, process } = await serve(dataFolder())
    const { port } = new URL(url)
    const other = await failedServe('--data', dataFolder(), '--port', port)
    expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining('the port is in use') })
    const second = await failedServe('--data', data)
    expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining(`process ${process.pid}`) })
    expect(second.stderr).toContain('"vitrine up" prints its link')
    const lost = await failedServe('--data', dataFolder(), '--root', '/nowhere/at/all')
    expect(lost).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the directory /nowhere/at/all does not exist'),
    })
  })

  it.each([
    [['--port', '70000'], 'Expected a number from 0 to 65535'],
    [['--isolation', 'moon'], 'Allowed choices are auto, bubblewrap, none'],
    [['--agent', 'mine='], "expected name='command'"],
    [['--cors', 'example.com'], 'expected an origin such as https://app.example.com'],
    [['--retention-days', '-1'], 'Expected a number above 0'],
    [['--omit', 'everything'], 'Expected one of output, argv, paths, env, errors'],
    [['--wrong'], "unknown option '--wrong'"],
  ])('reports invalid flags: %j', async (args, message) => {
    const { code, stdout, stderr } = await failedServe('--data', dataFolder(), ...args)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain(message)
  })

  it('prints help with examples', async () => {
    const run = vitrine(['serve', '--help'])
    await run.exit()
    expect(run.stdout).toContain('Examples:\n  $ vitrine serve')
  })
})

it('omits parts of events, and writes an audit log', async () => {
  const data = dataFolder()
  const log = join(data, 'audit.jsonl')
  const daemon = await serve(data, ['--omit', 'argv', '--omit', 'output', '--audit-log', log])
  await exec(daemon, 'echo very-private')
  await daemon.process.end()
  const lines = readFileSync(log, 'utf8')
  expect(lines).toContain('"process.exited"')
  expect(lines).not.toContain('very-private')
})

it('writes the events of each sandbox into its workspace with --workspace-log', async () => {
  const root = dataFolder()
  chmodSync(root, 0o777)
  const daemon = await serve(dataFolder(), ['--root', root, '--workspace-log', 'logs/events.jsonl'])
  await exec(daemon, 'echo hello')
  await daemon.process.end()
  expect(readFileSync(join(root, 'logs/events.jsonl'), 'utf8')).toContain('"process.exited"')
})

it('uses the folder of --root and the agents of --agent', async () => {
  const root = dataFolder()
  chmodSync(root, 0o777)
  writeFileSync(join(root, 'here.txt'), 'hello')
  const daemon = await serve(dataFolder(), ['--root', root, '--agent', 'mine=node agent.mjs'])
  expect(await (await exec(daemon, 'cat here.txt')).json()).toMatchObject({ stdout: 'hello' })
  const { agents } = await daemon.read<{ agents: { name: string }[] }>('/v1/agents')
  expect(agents.map(({ name }) => name)).toContain('mine')
})
