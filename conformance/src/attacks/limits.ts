import type { JournalReader } from '@vitrine/protocol'
import { expect } from 'vitest'
import { allEvents } from '../sandbox/events.ts'
import { outputOf } from '../sandbox/files/content.ts'
import type { TestedSandbox } from '../sandbox/kit.ts'
import { countMarked, newMark, waitUntilGone } from '../sandbox/marks.ts'
import { attempt } from '../waiting/attempt.ts'
import { background } from '../waiting/background.ts'
import { eventually } from '../waiting/within.ts'
import type { Attack } from './kit.ts'

const mebibyte = 1024 * 1024

/** A limit of memory, and more than it allows: less than would harm a host without one. */
const memoryBytes = 48 * mebibyte
const tooMuch = 192 * mebibyte

/** The memory of a host on which default limits can be reached without harm. */
const smallHostBytes = 64 * mebibyte

/** Waits until the sandbox runs commands again. */
function waitUntilUsable(sandbox: TestedSandbox): Promise<void> {
  return eventually('a command to run', async () => {
    const result = await sandbox.exec('echo on').catch(() => undefined)
    return result?.stdout === 'on\n'
  })
}

/** Bombs run with a part of a processor, so that they do not slow down what runs beside them. */
const cpus = 0.5

/** A fork bomb that ends by itself, in case that nothing limits it. */
function bombOf(mark: string): readonly string[] {
  const bomb = `end=$((SECONDS + 10)); b() { ((SECONDS < end)) || exit; sleep 0.02; b | b & }; : ${mark}; b; sleep ${mark}`
  return ['bash', '-c', bomb]
}

/** Takes this much memory: `tail` holds a line that does not end. */
function takeMemory(bytes: number): string {
  return `head -c ${bytes} /dev/zero | tail -n 1 | wc -c`
}

/** Whether there is an event that names the limit, with such a maximum. */
async function hasReached(
  journal: JournalReader,
  limit: string,
  isMax: (max: number) => boolean,
): Promise<boolean> {
  const reached = await allEvents(journal, { types: ['limit.reached'] })
  return reached.some(({ data }) => data.limit === limit && isMax(Number(data.max)))
}

function waitForLimit(journal: JournalReader, limit: string, isMax: (max: number) => boolean): Promise<void> {
  return eventually(`limit.reached of ${limit}`, () => hasReached(journal, limit, isMax))
}

const exactly = (wanted: number) => (max: number) => max === wanted

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
      const pids = 64
      const under = await target.sandbox({ limits: { pids, cpus } })
      const { sandbox: other } = await target.sandbox()
      const mark = newMark()
      let most = 0
      const look = async () => {
        most = Math.max(most, await countMarked(under, mark))
      }
      const bomb = background(under.sandbox.exec(bombOf(mark)))
      await eventually('the bomb to reach its limit', async () => {
        await look()
        return most > pids || (await hasReached(under.journal, 'pids', exactly(pids)))
      })
      for (const _round of [1, 2, 3]) {
        expect(await outputOf(other, 'echo on')).toBe('on')
        await look()
      }
      expect(most, 'processes at a time').toBeLessThanOrEqual(pids)
      // The next command ends the bomb, which has all processes.
      await waitUntilUsable(under.sandbox)
      expect(await bomb).toMatchObject({ limit: { limit: 'pids', max: pids } })
      await waitUntilGone(under, mark)
    },
  },
  {
    promise: 'a command that takes all memory is ended within its limit, and the sandbox continues',
    needs: ['limit of memory'],
    async run(target) {
      const { sandbox } = await target.sandbox({ limits: { memoryBytes, cpus } })
      const taken = await sandbox.exec(takeMemory(tooMuch))
      expect(Number(taken.stdout)).toBeLessThan(tooMuch)
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
      const flooding = await sandbox.spawn(`yes | head -c ${8 * mebibyte}; touch written; sleep 600`)
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
      await waitForLimit(journal, 'pids', exactly(64))
      await waitUntilUsable(sandbox)
    },
  },
  {
    promise: 'a limit of memory that is reached is an event, and the sandbox is usable again',
    needs: ['limit of memory'],
    async run(target) {
      const { sandbox, journal } = await target.sandbox({ limits: { memoryBytes, cpus } })
      await sandbox.exec(takeMemory(tooMuch))
      await waitForLimit(journal, 'memoryBytes', exactly(memoryBytes))
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
    promise: 'a sandbox without given limits still has a limit of memory',
    needs: ['limit of memory', 'small host'],
    async run(target) {
      target.smallHost(smallHostBytes)
      const { sandbox, journal } = await target.sandbox({ limits: { cpus } })
      const taken = await sandbox.exec(takeMemory(tooMuch))
      expect(Number(taken.stdout)).toBeLessThan(tooMuch)
      await waitForLimit(journal, 'memoryBytes', (max) => max <= smallHostBytes)
      await waitUntilUsable(sandbox)
    },
  },
  {
    promise: 'a sandbox without given limits still has a limit of /tmp and of other folders in memory',
    needs: ['limit of /tmp', 'small host'],
    async run(target) {
      target.smallHost(smallHostBytes)
      const { sandbox, journal } = await target.sandbox({ limits: { cpus } })
      for (const folder of ['/tmp', '/var/tmp', '/dev/shm']) {
        const file = `${folder}/fill`
        await sandbox.exec(`head -c ${smallHostBytes / 2} /dev/zero > ${file}`)
        const written = Number(await outputOf(sandbox, `stat -c %s ${file} && rm ${file}`))
        expect(written, folder).toBeGreaterThan(0)
        expect(written, folder).toBeLessThan(smallHostBytes / 2)
      }
      await waitForLimit(journal, 'tmpBytes', (max) => max < smallHostBytes / 2)
      expect(await outputOf(sandbox, 'echo on > /tmp/small && cat /tmp/small')).toBe('on')
    },
  },
  {
    promise: 'a sandbox that fills /tmp is stopped by the limit of its disk, with an event',
    needs: ['limit of disk', 'limit of /tmp'],
    async run(target) {
      const diskBytes = 32 * mebibyte
      const { sandbox, journal } = await target.sandbox({ limits: { diskBytes, cpus } })
      const filled = await sandbox.exec(`head -c ${2 * diskBytes} /dev/zero > /tmp/fill`)
      expect(filled.exitCode).not.toBe(0)
      expect(Number(await outputOf(sandbox, 'stat -c %s /tmp/fill'))).toBeLessThanOrEqual(diskBytes)
      await waitForLimit(journal, 'tmpBytes', (max) => max <= diskBytes)
      await sandbox.exec('rm /tmp/fill')
      expect(await outputOf(sandbox, 'echo on > /tmp/small && cat /tmp/small')).toBe('on')
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
        await waitForLimit(journal, 'diskBytes', exactly(diskBytes))
        await attempt(() => sandbox.exec(`cd ${folder} && rm -f fill.*`)).catch(() => undefined)
        for (const index of Array.from({ length: 64 }, (_, at) => at))
          if (folder === '.') await sandbox.files.remove(`fill.${index}`, { force: true })
        await waitUntilUsable(sandbox)
      }
    },
  },
]
