import { describe, expect, it, onTestFinished } from 'vitest'
import { numbers } from '../events/coverage.ts'
import { attempt } from '../waiting/attempt.ts'
import { background } from '../waiting/background.ts'
import { eventually, withTimeLimit } from '../waiting/within.ts'
import { allEvents, exitsOf, operationsOf } from './events.ts'
import { type MakeSandbox, newSandbox, type SandboxKitOptions, sharedSandbox } from './kit.ts'
import { all, textOf } from './logs.ts'
import { countMarked, newMark, waitForMarked, waitUntilGone } from './marks.ts'
import { watch } from './screen.ts'

/** Regression cases for faults found in other systems. Each test name describes the fault. */
export function regressionCases(make: MakeSandbox, { startHost }: SandboxKitOptions): void {
  describe('sandbox-agent 0.4.2', () => {
    const shared = sharedSandbox(make)

    it('deleting a running process never returned, and left it running', async () => {
      const under = await shared()
      const mark = newMark()
      const process = await under.sandbox.spawn(
        `trap '' TERM; sleep ${mark} & while :; do cat; sleep ${mark}; done`,
      )
      await waitForMarked(under, mark, 2)
      await withTimeLimit('the stop', process.stop({ graceMs: 100 }))
      await withTimeLimit('the removal', under.sandbox.processes.remove(process.id))
      expect(await under.sandbox.processes.list()).toEqual([])
      await waitUntilGone(under, mark)
    })

    it('a crash left its pending call unresolved, its stream open and the dead process in the list', async () => {
      const { sandbox } = await shared()
      const process = await sandbox.spawn('echo up; read line; echo why >&2; kill -9 $$')
      const [screen, followed] = [watch(process), background(all(sandbox.processes.follow(process.id)))]
      await screen.shows('up')
      await process.input('crash\n')
      expect(await withTimeLimit('the exit', process.exit)).toEqual({
        outcome: 'failed',
        exitCode: null,
        signal: 'SIGKILL',
      })
      await withTimeLimit('the end of the view', screen.ended)
      expect(textOf(await followed)).toContain('why')
      await expect(process.input('next')).rejects.toMatchObject({ code: 'process_exited' })
      expect(await sandbox.processes.get(process.id)).toMatchObject({
        state: 'exited',
        exit: { signal: 'SIGKILL' },
      })
    })

    it('the death of the server left its processes as orphans', async ({ skip }) => {
      if (startHost === undefined) return skip()
      const mark = newMark()
      const host = await startHost([
        `sleep ${mark}`,
        `setsid sleep ${mark} & wait; sleep ${mark}`,
        `trap '' TERM HUP; nohup sh -c 'sleep ${mark}; :' & wait; sleep ${mark}`,
      ])
      onTestFinished(() => host.dispose())
      await eventually('its processes', async () => (await host.count(`sleep ${mark}`)) >= 4)
      host.kill()
      await eventually('no orphans', async () => (await host.count(mark)) === 0, 3_000)
    })

    it('timeoutMs was not enforced while a grandchild held the pipes', async () => {
      const under = await shared()
      const mark = newMark()
      const result = await under.sandbox.exec(['sh', '-c', `echo a; sleep ${mark}`], { timeoutMs: 300 })
      expect(result).toMatchObject({ outcome: 'timeout', stdout: 'a\n' })
      await waitUntilGone(under, mark)
    })

    it('a call waited for the background child of its command', async () => {
      const under = await shared()
      const mark = newMark()
      const { outcome, stdout } = await under.sandbox.exec(`sleep ${mark} & echo bg`)
      expect({ outcome, stdout, left: await countMarked(under, mark) }).toEqual({
        outcome: 'ok',
        stdout: 'bg\n',
        left: 1,
      })
    })

    it('a log kept its last 10 MB and silently dropped the rest', async () => {
      const { sandbox } = await newSandbox(make, { limits: { journalBytes: 500_000 } })
      const process = await sandbox.spawn('seq 1 300000')
      await process.exit
      const chunks = await sandbox.processes.logs(process.id)
      expect(textOf(chunks).startsWith('1\n2\n3\n')).toBe(true)
      expect(textOf(chunks).endsWith('299999\n300000\n')).toBe(true)
      const skipped = chunks.reduce((sum, chunk) => sum + (chunk.skipped ?? 0), 0)
      const recordedBytes = chunks.reduce((sum, { data }) => sum + data.length, 0)
      expect(recordedBytes + skipped).toBe(
        numbers(1, 300_000).reduce((sum, one) => sum + String(one).length + 1, 0),
      )
    })

    it('a line of 10 MB was not delivered completely', async () => {
      const { sandbox } = await shared()
      const process = await sandbox.spawn(`head -c 10000000 /dev/zero | tr '\\0' x; echo`)
      const chunks = await all(sandbox.processes.follow(process.id))
      expect(chunks.reduce((sum, { data }) => sum + data.length, 0)).toBe(10_000_001)
    })

    it('a slow reader lost most of a burst, and the rest looked complete', async () => {
      const { sandbox } = await shared()
      const process = await sandbox.spawn('seq 1 50000; cat; seq 50001 100000')
      const slow = sandbox.processes.follow(process.id)
      const first = await slow.next()
      await process.end()
      await process.exit
      const text = textOf([...(first.done ? [] : [first.value]), ...(await all(slow))])
      expect(
        text ===
          numbers(1, 100_000)
            .map((one) => `${one}\n`)
            .join(''),
      ).toBe(true)
    })

    it('following an unknown process waited forever', async () => {
      const { sandbox } = await shared()
      await expect(
        withTimeLimit(
          'an answer',
          attempt(() => sandbox.processes.follow('proc_none').next()),
          3_000,
        ),
      ).rejects.toMatchObject({
        code: 'not_found',
      })
    })
  })

  describe('TanStack AI sandbox', () => {
    const shared = sharedSandbox(make)

    it('B3: an aborted exec was an exit code of 0', async () => {
      const under = await shared()
      const mark = newMark()
      const caller = new AbortController()
      const running = under.sandbox.exec(`sleep ${mark}`, { signal: caller.signal })
      await waitForMarked(under, mark, 1)
      caller.abort()
      expect(await running).toMatchObject({ outcome: 'cancelled', exitCode: null })
    })

    it('B3: a signal that was aborted already still ran the command', async () => {
      const { sandbox } = await shared()
      await sandbox.exec('touch ran', { signal: AbortSignal.abort() })
      await sandbox.spawn('touch ran', { signal: AbortSignal.abort() }).catch(() => undefined)
      expect((await sandbox.exec('ls -A')).stdout).toBe('')
    })

    it('B3: a process that was killed from outside had ended well', async () => {
      const { sandbox, journal } = await shared()
      const process = await sandbox.spawn(['sleep', '1000'])
      await process.signal('SIGKILL')
      expect(await process.exit).toEqual({ outcome: 'failed', exitCode: null, signal: 'SIGKILL' })
      expect(exitsOf(await allEvents(journal), process.id)).toMatchObject([
        { data: { outcome: 'failed', exitCode: null } },
      ])
    })

    it('B4: 2 MB of é€ had dozens of replacement characters, in exec and in spawn', async () => {
      const { sandbox } = await shared()
      const command = `awk 'BEGIN { for (i = 0; i < 400000; i++) printf "é€" }'`
      expect((await sandbox.exec(command, { maxOutputBytes: 3_000_000 })).stdout.includes('\ufffd')).toBe(
        false,
      )
      // The process waits for input, so that the view starts first: a view of finished output may start in the middle of it.
      const process = await sandbox.spawn(`read -r go; ${command}`)
      const screen = watch(process)
      await process.input('go\n')
      await process.exit
      await screen.ended
      expect(screen.text.replaceAll('é€', '')).toBe('')
      for (const { data } of await sandbox.processes.logs(process.id))
        expect(data.toString().includes('\ufffd')).toBe(false)
    })

    it('B6: output without a last line break, or cut off by a kill, left its reader hanging', async () => {
      const { sandbox } = await shared()
      const unfinished = await sandbox.spawn('printf no-break')
      expect(textOf(await all(sandbox.processes.follow(unfinished.id)))).toBe('no-break')
      const killed = await sandbox.spawn('printf half; kill -9 $$')
      expect(textOf(await all(sandbox.processes.follow(killed.id)))).toBe('half')
    })

    it.each([
      'pnpm test; sudo rm -rf /',
      'pnpm test && rm -fr /',
      'pnpm test | rm  -rf /',
      'pnpm test\nrm -rf /',
      '/bin/rm -rf /',
      'cd / && rm -rf x',
      'echo $(rm -rf /)',
      'sh -c "rm -rf /"',
      'touch ran',
    ])('B9: a policy let through, at exec or at spawn: %s', async (command) => {
      const { sandbox, journal } = await newSandbox(make, {
        policy: {
          allow: ['pnpm *', 'echo *', 'cd *', 'ls *'],
          deny: ['rm -rf *', 'sudo *', 'touch *'],
          otherwise: 'ask',
        },
      })
      const refused = { code: 'gate_refused', retryable: false }
      await expect(attempt(() => sandbox.exec(command))).rejects.toMatchObject(refused)
      await expect(attempt(() => sandbox.spawn(command))).rejects.toMatchObject(refused)
      await expect(attempt(() => sandbox.exec(['sh', '-c', command]))).rejects.toMatchObject(refused)
      await expect(attempt(() => sandbox.as({ run: 'run_x' }).exec(command))).rejects.toMatchObject(refused)
      const events = await allEvents(journal)
      expect(events.filter(({ type }) => type === 'process.started')).toEqual([])
      for (const operation of [...operationsOf(events, 'exec'), ...operationsOf(events, 'spawn')])
        expect(operation.at(-1)?.data).toMatchObject({ outcome: 'failed', errorCode: 'gate_refused' })
      expect(await sandbox.exec('echo allowed')).toMatchObject({ outcome: 'ok', stdout: 'allowed\n' })
    })

    it('B11: the whole environment of the host went to the agent', async () => {
      process.env.OPENAI_API_KEY = 'kit-b11-value'
      onTestFinished(() => void delete process.env.OPENAI_API_KEY)
      const { sandbox } = await newSandbox(make)
      expect((await sandbox.exec('env')).stdout).not.toContain('kit-b11-value')
      const spawned = await sandbox.spawn('env')
      await spawned.exit
      expect(textOf(await sandbox.processes.logs(spawned.id))).not.toContain('kit-b11-value')
      expect((await sandbox.exec('env', { env: { GIVEN: 'yes' } })).stdout).toContain('GIVEN=yes')
    })
  })

  describe('this repository', () => {
    it('closing the last sandbox of a host killed the next one', async () => {
      for (const _round of numbers(1, 4)) {
        const under = await make()
        try {
          expect(await under.sandbox.exec('sleep 0.2; echo alive')).toMatchObject({
            outcome: 'ok',
            stdout: 'alive\n',
          })
        } finally {
          await under.close()
        }
      }
    })
  })
}
