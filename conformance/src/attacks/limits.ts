import type { JournalReader } from '@vitrine/protocol'
import { expect } from 'vitest'
import { allEvents } from '../sandbox/events.ts'
import { outputOf } from '../sandbox/files/content.ts'
import type { TestedSandbox } from '../sandbox/kit.ts'
import { newMark, waitUntilGone } from '../sandbox/marks.ts'
import { attempt } from '../waiting/attempt.ts'
import { eventually } from '../waiting/within.ts'
import type { Attack } from './kit.ts'

const mebibyte = 1024 * 1024

/** Waits until the sandbox runs commands again. */
function waitUntilUsable(sandbox: TestedSandbox): Promise<void> {
  return eventually('a command to run', async () => {
    const result = await sandbox.exec('echo on').catch(() => undefined)
    return result?.stdout === 'on\n'
  })
}

/** A fork bomb that ends by itself, in case that nothing limits it. */
function bombOf(mark: string): readonly string[] {
  const bomb = `end=$((SECONDS + 3)); b() { ((SECONDS < end)) || exit; sleep 0.05; b | b & }; : ${mark}; b; sleep ${mark}`
  return ['bash', '-c', bomb]
}

/** Waits for the event that names the limit, with the maximum that was set. */
function waitForLimit(journal: JournalReader, limit: string, max: number): Promise<void> {
  return eventually(`limit.reached of ${limit} with ${max}`, async () => {
    const reached = await allEvents(journal, { types: ['limit.reached'] })
    return reached.some(({ data }) => data.limit === limit && data.max === max)
  })
}

/** More processes than a sandbox needs, and fewer than would harm a host without a limit. */
const manyProcesses = 6_000

/** Forks processes that wait, and prints how many there are when it is refused one more. */
const forking = `my $n = 0; while ($n < ${manyProcesses}) { my $p = fork; last unless defined $p; if (!$p) { sleep 60; exit } $n++ } print $n`

/** The aim: to use up the host's processes, memory or disk. */
export const limitAttacks: readonly Attack[] = [
  {
    promise: 'a fork bomb stays within its limit and harms no other sandbox',
    needs: ['limit of processes'],
    async run(target) {
      const under = await target.sandbox({ limits: { pids: 64 } })
      const { sandbox: other } = await target.sandbox()
      const mark = newMark()
      const bomb = under.sandbox.exec(bombOf(mark), { timeoutMs: 2_000 })
      for (const _round of [1, 2, 3]) expect(await outputOf(other, 'echo on')).toBe('on')
      expect((await bomb).outcome).not.toBe('ok')
      await waitUntilGone(under, mark)
      await waitUntilUsable(under.sandbox)
    },
  },
  {
    promise: 'a command that takes all memory is ended within its limit, and the sandbox continues',
    needs: ['limit of memory'],
    async run(target) {
      const { sandbox } = await target.sandbox({ limits: { memoryBytes: 96 * mebibyte } })
      // `tail` holds a line that does not end in memory; more than the limit, less than would harm a host without one.
      const taken = await sandbox.exec(`head -c ${400 * mebibyte} /dev/zero | tail -n 1 | wc -c`)
      expect(Number(taken.stdout)).toBeLessThan(400 * mebibyte)
      await waitUntilUsable(sandbox)
    },
  },
  {
    promise: 'a sandbox starts no more processes than its limit',
    async run(target) {
      const { sandbox } = await target.sandbox({ limits: { processes: 5 } })
      const started = await Promise.allSettled(
        Array.from({ length: 12 }, () => sandbox.spawn(['sleep', '600'])),
      )
      const codes = started.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []))
      expect(codes).toEqual(Array.from({ length: 7 }, () => 'process_limit'))
    },
  },
  {
    promise: 'a tree of too many files is not watched in silence',
    needs: ['watching'],
    async run(target) {
      const { sandbox, journal } = await target.sandbox({ watch: { maxEntries: 100 } })
      await sandbox.exec('for d in 1 2 3 4 5 6; do mkdir $d; for f in $(seq 50); do : > $d/$f; done; done')
      await sandbox.files.flush()
      const degraded = await allEvents(journal, { types: ['watch.degraded'] })
      expect(degraded.length).toBeGreaterThan(0)
      expect(await outputOf(sandbox, 'echo on')).toBe('on')
    },
  },
  {
    promise: 'a process whose output nothing reads does not hold up the sandbox',
    async run(target) {
      const { sandbox } = await target.sandbox({ limits: { journalBytes: 256 * 1024 } })
      const flooding = await sandbox.spawn(`yes | head -c ${24 * mebibyte}; touch written; sleep 600`)
      const view = flooding.view()[Symbol.asyncIterator]()
      await view.next()
      // The viewer has stopped reading. The process goes on all the same.
      await eventually('the output to be written', async () => {
        const { stdout } = await sandbox.exec('ls')
        return stdout.includes('written')
      })
      await flooding.kill()
    },
  },
  {
    promise: 'a limit of processes that is reached is an event, and the sandbox is usable again',
    needs: ['limit of processes'],
    async run(target) {
      const under = await target.sandbox({ limits: { pids: 64 } })
      const { sandbox, journal } = under
      const mark = newMark()
      // The shell gives up at its limit and leaves its children behind.
      await sandbox
        .exec(`i=0; while [ $i -lt 200 ]; do sleep ${mark} > /dev/null 2>&1 & i=$((i+1)); done`, {
          timeoutMs: 10_000,
        })
        .catch(() => undefined)
      await waitForLimit(journal, 'pids', 64)
      await waitUntilUsable(sandbox)
    },
  },
  {
    promise: 'a limit of memory that is reached is an event, and the sandbox is usable again',
    needs: ['limit of memory'],
    async run(target) {
      const memoryBytes = 96 * mebibyte
      const { sandbox, journal } = await target.sandbox({ limits: { memoryBytes } })
      await sandbox.exec(`head -c ${400 * mebibyte} /dev/zero | tail -n 1 | wc -c`)
      await waitForLimit(journal, 'memoryBytes', memoryBytes)
      await waitUntilUsable(sandbox)
    },
  },
  {
    promise: 'a sandbox without given limits still has a limit of processes',
    needs: ['limit of processes'],
    async run(target) {
      const { sandbox } = await target.sandbox()
      const { stdout } = await sandbox.exec(['perl', '-e', forking])
      expect(Number(stdout)).toBeLessThan(manyProcesses)
      await sandbox.lifecycle.shutdown()
      await sandbox.lifecycle.start()
      await waitUntilUsable(sandbox)
    },
  },
  {
    promise: 'a sandbox that fills its disk is stopped by its limit, with an event, and is usable again',
    needs: ['limit of disk'],
    async run(target) {
      const diskBytes = 32 * mebibyte
      // Accounting may overshoot; a disk without any limit takes all of it.
      const most = 512 * mebibyte
      for (const folder of ['.', '~']) {
        const { sandbox, journal } = await target.sandbox({ limits: { diskBytes } })
        const fill = `cd ${folder} && i=0; while [ $i -lt 64 ]; do head -c ${most / 64} /dev/zero > fill.$i || exit 1; i=$((i+1)); sleep 0.05; done`
        const filled = await sandbox.exec(fill).catch(() => undefined)
        expect(filled?.exitCode, folder).not.toBe(0)
        await waitForLimit(journal, 'diskBytes', diskBytes)
        await attempt(() => sandbox.exec(`cd ${folder} && rm -f fill.*`)).catch(() => undefined)
        for (const index of Array.from({ length: 64 }, (_, at) => at))
          if (folder === '.') await sandbox.files.remove(`fill.${index}`, { force: true })
        await waitUntilUsable(sandbox)
      }
    },
  },
]
