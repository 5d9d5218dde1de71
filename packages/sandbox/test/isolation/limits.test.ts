import { describe, expect, it } from 'vitest'
import { openHost, reasonToSkip, type Sandbox } from './fixtures/open-host.ts'

const has = ({ capabilities }: Sandbox, limit: 'memory' | 'pids') => {
  const given = capabilities.limits.includes(limit)
  if (!given) console.warn(`SKIPPED: no limit of ${limit} can be set on this machine.`)
  return given
}

describe.skipIf(reasonToSkip('self'))('a sandbox with limits', () => {
  it.each(['bubblewrap', 'none'] as const)(
    'runs 100 quick commands with 64 processes (%s)',
    async (isolation) => {
      await using host = openHost()
      const sandbox = await host.open({ isolation, limits: { pids: 64 } })
      if (!has(sandbox, 'pids')) return
      const results = []
      for (let round = 0; round < 10; round++)
        results.push(...(await Promise.all(Array.from({ length: 10 }, () => sandbox.exec('echo x | cat')))))
      expect(results.filter(({ exitCode, stdout }) => exitCode !== 0 || stdout !== 'x\n')).toEqual([])
    },
  )

  it('contains a flood of processes and keeps running after it', async () => {
    await using host = openHost()
    const sandbox = await host.open({ limits: { pids: 40 } })
    if (!has(sandbox, 'pids')) return
    const flood = await sandbox.exec('i=0; while [ $i -lt 200 ]; do sleep 1 & i=$((i+1)); done; wait', {
      timeoutMs: 20_000,
    })
    expect(flood.stderr).toMatch(/fork|resource/i)
    expect(await sandbox.output('echo on')).toBe('on')
  })

  it('kills only processes inside when memory runs out', async () => {
    await using host = openHost()
    const small = await host.open({ limits: { memoryBytes: 64 * 1024 ** 2 } })
    const other = await host.open()
    if (!has(small, 'memory')) return
    await other.spawn('exec sleep 600.5')
    const greedy = await small.exec(`exec perl -e '$x = "x" x (512 * 1024 * 1024); print length $x'`)
    expect([greedy.outcome, greedy.signal, greedy.stdout]).toEqual(['failed', 'SIGKILL', ''])
    expect(await small.output('echo on')).toBe('on')
    expect(await other.output('cat /proc/[0-9]*/cmdline | tr "\\0" " "')).toContain('sleep 600.5')
  })

  it('counts data in /tmp as memory, and at worst ends the sandbox that wrote it', async () => {
    await using host = openHost()
    const small = await host.open({ limits: { memoryBytes: 64 * 1024 ** 2 } })
    const other = await host.open()
    if (!has(small, 'memory')) return
    const filled = await small.exec('head -c 300000000 /dev/zero > /tmp/full')
    expect(filled.outcome).not.toBe('ok')
    const after = await small.output('echo on').catch((error) => error.code)
    if (after !== 'on') {
      expect(after).toBe('sandbox_not_running')
      expect(await small.events('sandbox.failed')).toHaveLength(1)
    }
    expect(await other.output('echo on')).toBe('on')
  })
})
