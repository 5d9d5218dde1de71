import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { dataFolder, serve, type TestDaemon } from '../../../cli/test/vitrine-process.ts'
import { jsonBody, openDaemon, type ResponseJson } from '../daemon.ts'
import { dialSocket, terminalPath } from '../sockets/dialling.ts'

const mebibyte = 1024 * 1024
const patience = { timeout: 40_000 }

/** The most that a process ever had in memory. */
function peakBytes(pid: number): number {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) * 1024
}

async function post(daemon: Pick<TestDaemon, 'fetch'>, path: string, body: object): Promise<ResponseJson> {
  const response = await daemon.fetch(path, { method: 'POST', ...jsonBody(body) })
  expect(response.status).toBe(200)
  return response.json()
}

describe('a flood of output', () => {
  const flood = `yes 0123456789abcdef | head -c ${512 * mebibyte}`
  const line = `head -c ${512 * mebibyte} /dev/zero | tr '\\0' x`

  it.each([
    ['lines', flood],
    ['one line that does not end', line],
    ['what is no text', `head -c ${512 * mebibyte} /dev/urandom`],
  ])(
    'is truncated in the response and in the journal, and not held in memory: %s',
    async (_what, command) => {
      const daemon = await serve(dataFolder())
      await post(daemon, '/v1/exec', { command: `head -c ${mebibyte} /dev/zero` })
      const before = peakBytes(daemon.process.pid)
      const running = post(daemon, '/v1/exec', { command })
      let responded = 0
      const over = running.then(() => true)
      while (!(await Promise.race([over, daemon.fetch('/v1/health').then(() => false)]))) responded += 1
      expect(responded).toBeGreaterThan(0)
      const { truncated, exitCode, stdout } = await running
      expect({ truncated, exitCode }).toEqual({ truncated: true, exitCode: 0 })
      expect(stdout.length).toBeLessThan(8 * mebibyte)
      expect(peakBytes(daemon.process.pid) - before).toBeLessThan(320 * mebibyte)
      const { events } = await daemon.read<ResponseJson>('/v1/events?types=limit.reached')
      expect(events.length).toBeGreaterThan(0)
    },
    240_000,
  )

  it('is not queued for a terminal that is not read: its socket is closed, and the process continues', async () => {
    await using daemon = await openDaemon()
    const { id } = await daemon.call('POST', '/v1/processes', {
      command: `cat; yes 0123456789abcdef | head -c ${64 * mebibyte}; touch written; sleep 600`,
      shell: true,
    })
    const socket = dialSocket(daemon, terminalPath(id), { token: daemon.token })
    await expect.poll(() => socket.messages[0]?.type, patience).toBe('ready')
    socket.socket.pause()
    await daemon.call('POST', `/v1/processes/${id}/input`, { data: '', end: true })
    // More than the socket's buffers hold has been written, and other requests are served meanwhile.
    await expect
      .poll(async () => (await daemon.call('POST', '/v1/exec', { command: 'ls' })).stdout, patience)
      .toContain('written')
    socket.socket.resume()
    expect((await socket.closed).code).toBe(1013)
    expect(await daemon.call('GET', `/v1/processes/${id}`)).toMatchObject({ state: 'running' })
    await daemon.call('POST', `/v1/processes/${id}/kill`)
  }, 120_000)
})

describe('a handshake that is held', () => {
  it('is closed like many others, while other clients are served', async () => {
    await using daemon = await openDaemon()
    const { id } = await daemon.call('POST', '/v1/processes', { command: 'cat' })
    const held = Array.from({ length: 300 }, () => dialSocket(daemon, terminalPath(id)))
    await Promise.all(held.map(({ opened }) => opened))
    expect((await daemon.call('POST', '/v1/exec', { command: 'echo on' })).stdout).toBe('on\n')
    const known = dialSocket(daemon, terminalPath(id), { token: daemon.token })
    await expect.poll(() => known.messages[0]?.type, patience).toBe('ready')
    for (const { closed, messages: said, output } of held) {
      expect((await closed).code).toBe(4401)
      expect({ said, output }).toEqual({ said: [], output: '' })
    }
    known.socket.terminate()
  })

  it('a socket is closed when more input is queued than its process reads', async () => {
    await using daemon = await openDaemon()
    const { id } = await daemon.call('POST', '/v1/processes', { command: 'sleep', args: ['600'] })
    const socket = dialSocket(daemon, terminalPath(id), { token: daemon.token })
    await expect.poll(() => socket.messages[0]?.type, patience).toBe('ready')
    const part = { type: 'input', data: 'x'.repeat(500_000) }
    for (let count = 0; count < 40; count += 1) socket.sendJson(part)
    const { code } = await socket.closed
    expect([1006, 1013]).toContain(code)
    expect((await daemon.fetch('/v1/health')).status).toBe(200)
  })
})

describe('a bomb of processes', () => {
  it('is limited to its own sandbox', async ({ skip }) => {
    await using daemon = await openDaemon()
    const local = { isolation: 'bubblewrap', limits: { pids: 64 } }
    const { id, capabilities } = await daemon.call('POST', '/v1/sandboxes', { local })
    if (!capabilities.limits.includes('pids')) skip('No limit of processes can be set on this machine.')
    const base = `/v1/sandboxes/${id}`
    const bomb = daemon.call('POST', `${base}/exec`, {
      command: ['bash', '-c', 'bomb() { bomb | bomb & }; bomb; sleep 600'],
      timeoutMs: 5_000,
    })
    for (let count = 0; count < 10; count += 1)
      expect((await daemon.call('POST', '/v1/exec', { command: 'echo on' })).stdout).toBe('on\n')
    expect((await bomb).outcome).not.toBe('ok')
    expect((await daemon.call('POST', `${base}/exec`, { command: 'echo on' })).stdout).toBe('on\n')
    const { stdout } = await daemon.call('POST', `${base}/exec`, { command: 'ls -d /proc/[0-9]* | wc -l' })
    expect(Number(stdout)).toBeLessThan(20)
  }, 120_000)
})
