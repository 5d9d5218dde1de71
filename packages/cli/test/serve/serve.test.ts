import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { dataFolder, exec, serve, vitrine } from '../vitrine-process.ts'

interface Page {
  readonly events: readonly { readonly seq: number; readonly type: string; readonly data: object }[]
}

const modeOf = (path: string) => statSync(path).mode & 0o777

/** Whether a process of this machine is that command, as the kernel has it. */
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

/** How a command that cannot work ends. */
async function refusal(...args: string[]) {
  const run = vitrine(['serve', '--port', '0', ...args])
  const { code } = await run.exit()
  return { code, stdout: run.stdout, stderr: run.stderr }
}

describe('the token', () => {
  it('is made once, kept where only its owner reads it, and is the same the next time', async () => {
    const data = dataFolder()
    const first = await serve(data)
    expect(first.token).toMatch(/^[\w-]{43}$/)
    expect(modeOf(join(data, 'token'))).toBe(0o600)
    expect((await first.fetch('/v1/health')).status).toBe(200)
    await first.process.end()
    const second = await serve(data)
    expect(second.token).toBe(first.token)
  })

  it('is refused where others can read its file, and where there is none in it', async () => {
    const data = dataFolder()
    const path = join(data, 'token')
    writeFileSync(path, 'a-token-that-everyone-knows')
    chmodSync(path, 0o644)
    const seen = await refusal('--data', data)
    expect(seen).toMatchObject({ code: 1, stdout: '' })
    expect(seen.stderr).toContain(`chmod 600 ${path}`)
    expect(seen.stderr).not.toContain('everyone-knows')
    writeFileSync(path, '')
    chmodSync(path, 0o600)
    expect((await refusal('--data', data)).stderr).toContain(`There is no token in ${path}`)
  })

  it('comes from the command line or the environment, by name, and then none is kept', async () => {
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

  it('of an onlooker reads and does nothing', async () => {
    const daemon = await serve(dataFolder(), ['--read-token', 'screen=look-but-not-touch'])
    const headers = { authorization: 'Bearer look-but-not-touch' }
    expect((await daemon.fetch('/v1/events', { headers })).status).toBe(200)
    const refused = await exec(daemon, 'true', headers)
    expect(refused.status).toBe(403)
    expect(await refused.json()).toMatchObject({ detail: expect.stringContaining('screen') })
    expect((await exec(daemon, 'true')).status).toBe(200)
  })

  it('is not needed with --no-token, on this machine only', async () => {
    const daemon = await serve(dataFolder(), ['--no-token'])
    expect(daemon.token).toBeUndefined()
    expect((await daemon.fetch('/v1/health')).status).toBe(200)
    expect(readFileSync(join(daemon.data, 'daemon.json'), 'utf8')).not.toContain('token')
  })

  it('is in no output but the line that is for it', async () => {
    const data = dataFolder()
    const secret = 'a-secret-of-some-length'
    const [short, odd] = [
      await refusal('--data', data, '--token', 'x=short'),
      await refusal('--data', data, '--token', `o d d=${secret}`),
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

describe('what other machines reach', () => {
  it('needs a token', async () => {
    const { code, stderr } = await refusal('--data', dataFolder(), '--no-token', '--host', '0.0.0.0')
    expect(code).toBe(1)
    expect(stderr).toContain('--no-token: on 0.0.0.0 other machines could run anything here')
  })

  it('is isolated', async () => {
    const { code, stderr } = await refusal('--data', dataFolder(), '--isolation', 'none', '--host', '0.0.0.0')
    expect(code).toBe(1)
    expect(stderr).toContain('say --allow-unisolated')
  })
})

describe('the note for others on this machine', () => {
  it('is there while it listens, and only its owner reads it', async () => {
    const daemon = await serve(dataFolder())
    const path = join(daemon.data, 'daemon.json')
    expect(modeOf(path)).toBe(0o600)
    const { startedAt, ...note } = JSON.parse(readFileSync(path, 'utf8'))
    expect(note).toEqual({ url: daemon.url, token: daemon.token, pid: daemon.process.pid, version: '0.1.0' })
    expect(Date.parse(startedAt)).not.toBeNaN()
    await daemon.process.end()
    expect(existsSync(path)).toBe(false)
  })
})

describe('the end', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'by %s: streams are told, no process is left, and it exits with 0',
    async (signal) => {
      const daemon = await serve(dataFolder())
      // Nobody else sleeps exactly that long.
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

  it('does not wait for anything once a second signal comes', async () => {
    // A server that never closes.
    const stuck = 'import http from "node:http"; http.Server.prototype.close = () => {}'
    const daemon = await serve(dataFolder(), [], { node: ['--import', `data:text/javascript,${stuck}`] })
    const note = join(daemon.data, 'daemon.json')
    daemon.process.signal('SIGTERM')
    await expect.poll(() => existsSync(note)).toBe(false)
    // One that comes at once is the same key, sent again by npm.
    await sleep(400)
    daemon.process.signal('SIGTERM')
    expect(await daemon.process.exit()).toEqual({ code: 143, signal: null })
  })

  it('by an error that nobody expected is said, recorded, and exits with 1', async () => {
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

  it('by kill -9 loses nothing: the journal of the default sandbox goes on under the same token', async () => {
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

describe('what it says', () => {
  it('to people: the address, the data, the link and how to stop it', async () => {
    const data = dataFolder()
    const run = vitrine(['serve', '--port', '0', '--data', data])
    await run.says(/Ctrl-C stops it/)
    const token = readFileSync(join(data, 'token'), 'utf8').trim()
    expect(run.stdout).toMatch(/^Vitrine listens on http:\/\/127\.0\.0\.1:\d+\n/)
    expect(run.stdout).toContain(data)
    expect(run.stdout).toMatch(new RegExp(`http://127\\.0\\.0\\.1:\\d+/ui/#token=${token}\n`))
    await run.end()
    expect(run.stderr).toBe('')
  })

  it('of a port that is taken, a data directory that is in use, a folder that is not there', async () => {
    const { url, data, process } = await serve(dataFolder())
    const { port } = new URL(url)
    const other = await refusal('--data', dataFolder(), '--port', port)
    expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining('something else listens there') })
    const second = await refusal('--data', data)
    expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining(`process ${process.pid}`) })
    expect(second.stderr).toContain('"vitrine up" prints its link')
    const lost = await refusal('--data', dataFolder(), '--root', '/nowhere/at/all')
    expect(lost).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('there is no folder /nowhere/at/all'),
    })
  })

  it.each([
    [['--port', '70000'], 'Expected a number from 0 to 65535'],
    [['--isolation', 'moon'], 'Allowed choices are auto, bubblewrap, none'],
    [['--agent', 'mine='], "expected name='command'"],
    [['--cors', 'example.com'], 'expected an origin such as https://app.example.com'],
    [['--wrong'], "unknown option '--wrong'"],
  ])('of flags that are wrong: %j', async (args, message) => {
    const { code, stdout, stderr } = await refusal('--data', dataFolder(), ...args)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain(message)
  })

  it('has help with examples', async () => {
    const run = vitrine(['serve', '--help'])
    await run.exit()
    expect(run.stdout).toContain('Examples:\n  $ vitrine serve')
  })
})

it('works in the folder that it is given, with the agents that it is given', async () => {
  const root = dataFolder()
  chmodSync(root, 0o777)
  writeFileSync(join(root, 'here.txt'), 'hello')
  const daemon = await serve(dataFolder(), ['--root', root, '--agent', 'mine=node agent.mjs'])
  expect(await (await exec(daemon, 'cat here.txt')).json()).toMatchObject({ stdout: 'hello' })
  const { agents } = await daemon.read<{ agents: { name: string }[] }>('/v1/agents')
  expect(agents.map(({ name }) => name)).toContain('mine')
})
