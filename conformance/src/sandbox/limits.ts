import { describe, expect, it } from 'vitest'
import { eventually } from '../waiting/within.ts'
import { type MakeSandbox, newSandbox } from './kit.ts'
import { newMark, waitUntilGone } from './marks.ts'

const mib = 1024 * 1024

/** Commands that use without end what a sandbox has. */
const endless = [
  {
    does: 'forks without end',
    capability: 'pids',
    limits: { pids: 64 },
    limit: { name: 'pids', max: 64 },
    command: 'b() { b | b & }; b; while :; do sleep 1; done',
  },
  {
    does: 'allocates without end',
    capability: 'memory',
    limits: { memoryBytes: 64 * mib },
    limit: { name: 'memoryBytes', max: 64 * mib },
    command: 'exec tail /dev/zero',
  },
  {
    does: 'writes without end',
    capability: 'disk',
    limits: { diskBytes: 32 * mib },
    limit: { name: 'diskBytes', max: 32 * mib },
    command: 'exec cat /dev/zero > endless',
  },
  {
    does: 'writes to /tmp without end',
    capability: 'tmp',
    limits: { tmpBytes: 8 * mib },
    limit: { name: 'tmpBytes', max: 8 * mib },
    command: 'exec cat /dev/zero > /tmp/endless',
  },
] as const

export function limitCases(make: MakeSandbox): void {
  describe('limits', () => {
    it('the process limit stops a fork bomb, and the sandbox continues', async ({ skip }) => {
      const under = await newSandbox(make, { limits: { pids: 100 } })
      const { sandbox } = under
      if (!sandbox.capabilities.limits.includes('pids')) skip()
      const mark = newMark()
      // The bomb ends by itself after 3 s, in case the limit is not enforced.
      const bomb = `end=$((EPOCHSECONDS + 3)); b() { ((EPOCHSECONDS < end)) || exit; sleep 0.05; b | b & }; : ${mark}; b; sleep ${mark}`
      expect(await sandbox.exec(['bash', '-c', bomb], { timeoutMs: 1_000 })).toMatchObject({
        outcome: 'timeout',
      })
      await waitUntilGone(under, mark)
      await eventually('a command to run', async () => {
        const result = await sandbox.exec('echo on').catch(() => undefined)
        return result?.stdout === 'on\n'
      })
    })

    it.for(endless)(
      'a command that $does is stopped by its limit, which it names, and the sandbox continues',
      async ({ capability, limits, command, limit }, { skip }) => {
        const { sandbox, journal } = await newSandbox(make, { limits })
        if (!sandbox.capabilities.limits.some((one) => one.startsWith(capability))) skip()
        const other = await newSandbox(make)
        const result = await sandbox.exec(['bash', '-c', command], { timeoutMs: 60_000 })
        expect(result).toMatchObject({ outcome: 'failed', limit: { limit: limit.name, max: limit.max } })
        expect(result.limit?.message).toContain(`local.limits.${limit.name}`)
        const { events } = await journal.read({ types: ['limit.reached'] })
        expect(events.map(({ data }) => data)).toContainEqual(
          expect.objectContaining({ limit: limit.name, max: limit.max, process: expect.any(String) }),
        )
        expect((await other.sandbox.exec('echo on')).stdout).toBe('on\n')
        if (limit.name === 'diskBytes') await sandbox.files.remove('endless')
        expect((await sandbox.exec('echo on')).stdout).toBe('on\n')
      },
    )

    it('the limits apply to processes that a command forks at once', async ({ skip }) => {
      const { sandbox } = await newSandbox(make, { limits: { pids: 500 } })
      if (!sandbox.capabilities.limits.includes('pids')) skip()
      const groups = new Set<string>()
      for (let round = 0; round < 40; round += 1)
        groups.add((await sandbox.exec(['sh', '-c', 'cat /proc/self/cgroup & wait'])).stdout)
      expect(groups.size).toBe(1)
    })

    it('a command is refused with a retryable code at the process limit', async ({ skip }) => {
      const under = await newSandbox(make, { limits: { pids: 20 } })
      const { sandbox } = under
      if (!sandbox.capabilities.limits.includes('pids')) skip()
      const mark = newMark()
      const { stdout } = await sandbox.exec(
        `i=0; while [ $i -lt 40 ]; do sleep ${mark} > /dev/null 2>&1 & i=$((i+1)); done; echo went on`,
      )
      expect(stdout).not.toContain('went on')
      // A sandbox at its process limit refuses with a retryable code; it must not break.
      await sandbox.exec('true').catch((error: unknown) => {
        expect(error).toMatchObject({ code: 'process_refused', retryable: true })
      })
      await sandbox.lifecycle.shutdown()
      await sandbox.lifecycle.start()
      expect((await sandbox.exec('echo on')).stdout).toBe('on\n')
    })
  })
}
