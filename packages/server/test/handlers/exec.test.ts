import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allEvents, jsonBody, openDaemon, problemOf, type ResponseJson, type TestDaemon } from '../daemon.ts'

let daemon: TestDaemon
beforeAll(async () => {
  daemon = await openDaemon()
})
afterAll(() => daemon.close())

const exec = (body: object) => daemon.call('POST', '/v1/exec', body)
const withInput = (options: object, body: string | Uint8Array | ReadableStream) =>
  daemon.fetch(`/v1/exec/input?options=${encodeURIComponent(JSON.stringify(options))}`, {
    method: 'POST',
    body,
    duplex: 'half',
  } as RequestInit)

describe('exec', () => {
  it('runs a string in a shell and an array without one', async () => {
    expect(await exec({ command: 'echo $((1 + 2)); echo no >&2; exit 4' })).toMatchObject({
      outcome: 'failed',
      exitCode: 4,
      stdout: '3\n',
      stderr: 'no\n',
    })
    expect(await exec({ command: ['echo', '$((1 + 2))'] })).toMatchObject({ stdout: '$((1 + 2))\n' })
  })

  it('accepts cwd, env and a time limit', async () => {
    await daemon.call('POST', '/v1/files/mkdir', { path: 'below' })
    const here = await exec({ command: 'pwd; echo $COLOUR', cwd: 'below', env: { COLOUR: 'red' } })
    expect(here.stdout).toMatch(/\/below\nred\n$/)
    expect(await exec({ command: 'sleep 60', timeoutMs: 200 })).toMatchObject({
      outcome: 'timeout',
      exitCode: null,
    })
    expect(await exec({ command: 'head -c 100000 /dev/zero', maxOutputBytes: 1_000 })).toMatchObject({
      truncated: true,
    })
    expect(await exec({ command: 'kill -9 $$' })).toMatchObject({ exitCode: null, signal: 'SIGKILL' })
  })

  it('accepts input as text, as base64 and as a stream', async () => {
    expect(await exec({ command: 'cat', stdin: 'héllo' })).toMatchObject({ stdout: 'héllo' })
    const bytes = Buffer.from([0, 255, 10]).toString('base64')
    expect(await exec({ command: 'od -An -tu1', stdin: bytes, stdinEncoding: 'base64' })).toMatchObject({
      stdout: expect.stringMatching(/0\s+255\s+10/),
    })
    let parts = 0
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (parts++ < 64) controller.enqueue(new Uint8Array(64 * 1024))
        else controller.close()
      },
    })
    const counted = await withInput({ command: ['wc', '-c'] }, stream)
    expect(((await counted.json()) as ResponseJson).stdout.trim()).toBe(String(64 * 64 * 1024))
  })

  it('may leave its input unread, and closes the connection after a large one', async () => {
    for (const bytes of [10, 100_000, 4 * 1024 * 1024]) {
      const ignored = await withInput({ command: 'exit 7' }, new Uint8Array(bytes))
      if (bytes > 1024 * 1024) expect(ignored.headers.get('connection')).toBe('close')
      expect(await ignored.json()).toMatchObject({ exitCode: 7 })
      const next = await withInput({ command: 'cat' }, 'next')
      expect(await next.json()).toMatchObject({ stdout: 'next' })
    }
  })

  it('refuses unknown options', async () => {
    for (const options of ['{', '[]', '{"command":5}', 'null', '']) {
      const path = `/v1/exec/input?options=${encodeURIComponent(options)}`
      const response = await daemon.fetch(path, { method: 'POST', body: 'x' })
      expect(await problemOf(response)).toMatchObject({ status: 400, code: 'argument_invalid' })
    }
  })

  it('reports why a command is invalid', async () => {
    for (const [body, status, code] of [
      [{ command: ['no-such-program-here'] }, 422, 'command_not_found'],
      [{ command: [] }, 400, 'argument_invalid'],
      [{ command: ['echo', 'a\0b'] }, 400, 'argument_invalid'],
      [{ command: 'true', cwd: 'nowhere' }, 422, 'cwd_not_found'],
      [{ command: 'true', cwd: '/etc' }, 422, 'cwd_outside'],
      [{ command: 'true', user: 'nobody-known' }, 422, 'user_unknown'],
    ] as const) {
      const response = await daemon.fetch('/v1/exec', { method: 'POST', ...jsonBody(body) })
      expect(await problemOf(response), JSON.stringify(body)).toMatchObject({ status, code })
    }
  })

  it.each([
    ['exec', '/v1/exec', jsonBody({ command: 'sleep 31341 & setsid sleep 31341 & echo up; wait' })],
    [
      'exec with input',
      `/v1/exec/input?options=${encodeURIComponent('{"command":"cat; sleep 31341 & wait"}')}`,
      { body: 'x' },
    ],
  ])('ends all its processes when the client disconnects: %s', async (_name, path, init) => {
    const gone = new AbortController()
    const running = daemon.fetch(path, { method: 'POST', ...init, signal: gone.signal })
    running.catch(() => undefined)
    await expect.poll(() => pidsOf('31341').length).toBeGreaterThan(0)
    gone.abort()
    await expect(running).rejects.toThrow()
    await expect.poll(() => pidsOf('31341')).toEqual([])
    await expect
      .poll(async () => (await allEvents(daemon, '&types=operation.finished')).at(-1)?.data)
      .toMatchObject({ op: 'exec', outcome: 'cancelled' })
  })

  it('records the caller and the context', async () => {
    const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const init = jsonBody({ command: 'true' })
    const run = (headers: Record<string, string>) =>
      daemon.fetch('/v1/exec', { method: 'POST', ...init, headers: { ...init.headers, ...headers } })
    await run({})
    const started = async () => (await allEvents(daemon, '&types=operation.started')).at(-1)
    expect(await started()).toMatchObject({ actor: 'alice' })
    await run({
      'vitrine-actor': encodeURIComponent('Zoë'),
      'vitrine-run': 'run_1',
      'vitrine-turn': 'turn_1',
      traceparent: trace,
    })
    expect(await started()).toMatchObject({
      actor: 'Zoë',
      run: 'run_1',
      turn: 'turn_1',
      trace: { traceId: '0af7651916cd43dd8448eb211c80319c' },
    })
  })
})

function pidsOf(argument: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name)
    if (!Number.isInteger(pid)) return []
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0')
      return words[0] === 'sleep' && words[1] === argument ? [pid] : []
    } catch {
      return []
    }
  })
}
