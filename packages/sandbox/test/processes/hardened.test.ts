import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { openSandbox } from '../fixtures/sandbox.ts'

const tty = { cols: 80, rows: 24 }

afterEach(() => vi.restoreAllMocks())

describe.each(['none', 'bubblewrap'] as const)('with isolation %s', (isolation) => {
  it('killing a command that has just exited signals no other process', async () => {
    const sandbox = await openSandbox({ isolation })
    const sent: number[] = []
    const real = process.kill.bind(process)
    vi.spyOn(process, 'kill').mockImplementation((pid, signal) => {
      sent.push(pid)
      return pid > 1 ? real(pid, signal) : true
    })
    for (let round = 0; round < 10; round += 1) {
      const short = await sandbox.spawn(['true'], { tty })
      await Promise.all([short.kill(), short.exit])
      const signalled = await sandbox.spawn(['true'], { tty })
      await signalled.signal('SIGTERM').catch(() => undefined)
      await signalled.exit
    }
    expect(sent.filter((pid) => pid <= 1)).toEqual([])
  })

  it('a program that does not read its terminal does not block the host', async () => {
    const sandbox = await openSandbox({ isolation })
    const deaf = await sandbox.spawn('stty raw; echo ready; exec sleep 60', { tty })
    for await (const { data } of deaf.view()) if (Buffer.from(data).includes('ready')) break
    const input = deaf.input(Buffer.alloc(1024 * 1024, 'x')).catch((error: unknown) => error)
    await sleep(50)
    expect((await sandbox.exec('echo still here')).stdout).toBe('still here\n')
    await deaf.kill()
    expect(await input).toMatchObject({ code: 'input_closed' })
  })

  it('a script can reopen its own streams through /dev', async () => {
    const sandbox = await openSandbox({ isolation })
    const { stdout, stderr } = await sandbox.exec('echo out > /dev/stdout; echo err > /dev/stderr')
    expect({ stdout, stderr }).toEqual({ stdout: 'out\n', stderr: 'err\n' })
  })

  it('two hundred processes are killed together', async () => {
    const sandbox = await openSandbox({ isolation })
    const all = await Promise.all(Array.from({ length: 200 }, () => sandbox.spawn(['sleep', '1000'])))
    const ends = await Promise.all(all.map((one) => one.kill()))
    expect(new Set(ends.map(({ signal, outcome }) => `${signal} ${outcome}`))).toEqual(
      new Set(['SIGKILL cancelled']),
    )
  })

  it('a process that exits by itself after SIGTERM is not reported as killed, even on a busy host', async () => {
    const sandbox = await openSandbox({ isolation })
    for (let round = 0; round < 3; round += 1) {
      const polite = await sandbox.spawn(`trap 'exit 0' TERM; echo ready; while :; do sleep 0.01; done`)
      for await (const { data } of polite.view()) if (Buffer.from(data).includes('ready')) break
      const stopping = polite.stop()
      await sleep(30)
      const until = performance.now() + 700
      while (performance.now() < until);
      expect(await stopping).toMatchObject({ outcome: 'ok', exitCode: 0, signal: null })
    }
  })

  it('a terminal that could not be started leaves no open descriptors', async () => {
    const sandbox = await openSandbox({ isolation })
    const open = () => readdirSync('/proc/self/fd').length
    await sandbox.spawn(['no-such-program'], { tty }).catch(() => undefined)
    const before = open()
    for (let round = 0; round < 10; round += 1)
      await expect(sandbox.spawn(['no-such-program'], { tty })).rejects.toMatchObject({
        code: 'command_not_found',
      })
    await sleep(100)
    expect(open()).toBeLessThanOrEqual(before + 1)
  })
})

it.runIf(process.getuid?.() === 0)('works with a data directory in the home of root', async () => {
  const data = mkdtempSync(join(homedir(), '.vitrine-test-'))
  onTestFinished(() => rmSync(data, { recursive: true, force: true }))
  const sandbox = await openSandbox({ isolation: 'bubblewrap', data })
  expect((await sandbox.exec('pwd; touch here && ls; ls /root 2>/dev/null | wc -l')).stdout).toBe(
    `${sandbox.root}\nhere\n0\n`,
  )
})
