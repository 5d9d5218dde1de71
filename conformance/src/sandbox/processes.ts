import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { numbers } from '../events/coverage.ts'
import { attempt } from '../waiting/attempt.ts'
import { background } from '../waiting/background.ts'
import { eventually, withTimeLimit } from '../waiting/within.ts'
import { allEvents, exitsOf } from './events.ts'
import { type MakeSandbox, newSandbox, sharedSandbox } from './kit.ts'
import { newMark, waitForMarked, waitUntilGone } from './marks.ts'
import { watch } from './screen.ts'

export function processCases(make: MakeSandbox): void {
  describe('processes', () => {
    const shared = sharedSandbox(make)

    it('processes are listed with their command, owner and state', async () => {
      const { sandbox } = await shared()
      const mine = await sandbox.spawn(['sleep', '1000'], { owner: 'kit' })
      const done = await sandbox.spawn('exit 7')
      await done.exit
      expect(await sandbox.processes.list()).toMatchObject([
        { id: mine.id, argv: ['sleep', '1000'], owner: 'kit', tty: false, state: 'running', restarts: 0 },
        {
          id: done.id,
          argv: ['sh', '-c', 'exit 7'],
          state: 'exited',
          exit: { outcome: 'failed', exitCode: 7 },
        },
      ])
      const info = await sandbox.processes.get(mine.id)
      expect(info.pid).toBe(mine.pid)
      expect(Date.parse(info.startedAt)).toBeGreaterThan(Date.now() - 60_000)
      expect(info.exit).toBeUndefined()
    })

    it('an exec is listed only while it runs', async () => {
      const { sandbox } = await shared()
      const running = sandbox.exec('while [ ! -e go ]; do sleep 0.02; done')
      await eventually('the exec in the list', async () => (await sandbox.processes.list()).length === 1)
      await sandbox.exec('touch go')
      await running
      await eventually('an empty list', async () => (await sandbox.processes.list()).length === 0)
    })

    it.each(['get', 'attach', 'logs', 'remove', 'kill', 'stop'] as const)(
      '%s refuses an unknown process',
      async (method) => {
        const { sandbox } = await shared()
        await expect(attempt<unknown>(() => sandbox.processes[method]('proc_none'))).rejects.toMatchObject({
          code: 'not_found',
        })
      },
    )

    it('a process that could not be started is not listed', async () => {
      const { sandbox } = await shared()
      await expect(sandbox.spawn(['no-such-program'])).rejects.toMatchObject({ code: 'command_not_found' })
      expect(await sandbox.processes.list()).toEqual([])
    })

    it('a process takes input until its end', async () => {
      const { sandbox } = await shared()
      const process = await sandbox.spawn('cat; echo done')
      const screen = watch(process)
      await process.input('one é\n')
      await screen.shows('one é\n')
      await sandbox.processes.input(process.id, new TextEncoder().encode('two\n'))
      await screen.shows('two\n')
      await process.end()
      expect(await process.exit).toMatchObject({ outcome: 'ok', exitCode: 0 })
      await screen.ended
      expect(screen.text).toBe('one é\ntwo\ndone\n')
    })

    it('input is refused after its end, and after the end of the process', async () => {
      const { sandbox } = await shared()
      const process = await sandbox.spawn('cat; sleep 1000')
      await process.end()
      await expect(process.input('late')).rejects.toMatchObject({ code: 'input_closed', retryable: false })
      await process.kill()
      await expect(process.input('late')).rejects.toMatchObject({ code: 'process_exited', retryable: false })
    })

    it('an unread input is rejected when its process ends', async () => {
      const { sandbox } = await shared()
      const process = await sandbox.spawn(['sleep', '1000'])
      const input = background(process.input('x'.repeat(1_000_000)))
      await sleep(50)
      await process.kill()
      await expect(withTimeLimit('an answer', input)).rejects.toMatchObject({
        code: expect.stringMatching(/input_closed|process_exited/),
      })
    })

    it('an input over the limit is refused, and the process continues', async () => {
      const { sandbox, journal } = await newSandbox(make, { limits: { inputBytes: 1_000 } })
      const process = await sandbox.spawn('cat')
      await expect(process.input('x'.repeat(1_001))).rejects.toMatchObject({ code: 'input_too_large' })
      await process.input(`${'y'.repeat(999)}\n`)
      await process.end()
      await process.exit
      const [chunk] = await sandbox.processes.logs(process.id)
      expect(chunk?.data.length).toBe(1_000)
      expect(await allEvents(journal, { types: ['limit.reached'] })).toMatchObject([{ data: { max: 1_000 } }])
    })

    it('a signal reaches only the program, not its children', async () => {
      const under = await shared()
      const mark = newMark()
      const process = await under.sandbox.spawn(
        `trap 'echo got it' USR1; echo ready; sleep ${mark} & while :; do wait; done`,
      )
      const screen = watch(process)
      await screen.shows('ready')
      await waitForMarked(under, mark, 2)
      await process.signal('SIGUSR1')
      await screen.shows('got it')
      await under.sandbox.processes.signal(process.id, 'SIGUSR1')
      await screen.shows('got it')
      await expect(attempt(() => process.signal('SIGNONE'))).rejects.toMatchObject({
        code: 'argument_invalid',
      })
      await process.kill()
      await expect(attempt(() => process.signal('SIGUSR1'))).rejects.toMatchObject({ code: 'process_exited' })
      await waitUntilGone(under, mark)
    })

    it('a process that ends by a signal reports which one', async () => {
      const { sandbox } = await shared()
      for (const name of ['SIGTERM', 'SIGKILL', 'SIGINT', 'SIGHUP'] as const) {
        const process = await sandbox.spawn(['sleep', '1000'])
        await process.signal(name)
        expect(await process.exit).toEqual({ outcome: 'failed', exitCode: null, signal: name })
      }
    })

    it('stop reports the exit code of a process that ends within the grace period, and leaves no children', async () => {
      const under = await shared()
      const mark = newMark()
      const process = await under.sandbox.spawn(
        `setsid sh -c 'trap "" TERM; sleep ${mark}; sleep ${mark}' & trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.02; done`,
      )
      const screen = watch(process)
      await screen.shows('ready')
      await waitForMarked(under, `sleep ${mark}`, 3)
      expect(await process.stop({ graceMs: 10_000 })).toEqual({ outcome: 'ok', exitCode: 0, signal: null })
      await screen.ended
      expect(screen.text).toContain('bye')
      await waitUntilGone(under, mark)
    })

    it('stop kills a process that ignores SIGTERM, with all its children', async () => {
      const under = await shared()
      const mark = newMark()
      const process = await under.sandbox.spawn(
        `trap '' TERM; echo ready; setsid sh -c 'trap "" TERM; sleep ${mark}; :' & sleep ${mark}; sleep ${mark}`,
      )
      await watch(process).shows('ready')
      await waitForMarked(under, mark, 3)
      expect(await process.stop({ graceMs: 200 })).toMatchObject({ outcome: 'cancelled', signal: 'SIGKILL' })
      await waitUntilGone(under, mark)
    })

    it('kill ends a process with all its descendants', async () => {
      const under = await shared()
      const mark = newMark()
      const process = await under.sandbox.spawn(
        `setsid sleep ${mark} & nohup sleep ${mark} >/dev/null 2>&1 & (sleep ${mark} &) ; wait; sleep ${mark}`,
      )
      await waitForMarked(under, mark, 4)
      expect(await under.sandbox.processes.kill(process.id)).toEqual({
        outcome: 'cancelled',
        exitCode: null,
        signal: 'SIGKILL',
      })
      await waitUntilGone(under, mark)
      expect(await process.kill()).toEqual(await process.exit)
      expect(await process.stop()).toEqual(await process.exit)
    })

    it('a spawned process ends at its time limit and with its signal', async () => {
      const under = await shared()
      const mark = newMark()
      const caller = new AbortController()
      const late = await under.sandbox.spawn(`sleep ${mark} & wait`, { timeoutMs: 300 })
      const called = await under.sandbox.spawn(`sleep ${mark} & wait`, { signal: caller.signal })
      expect(await late.exit).toMatchObject({ outcome: 'timeout', exitCode: null })
      caller.abort()
      expect(await called.exit).toMatchObject({ outcome: 'cancelled', exitCode: null })
      await waitUntilGone(under, mark)
      await expect(under.sandbox.spawn('touch ran', { signal: AbortSignal.abort() })).rejects.toThrow()
      expect((await under.sandbox.exec('ls -A')).stdout).toBe('')
    })

    it('remove refuses a running process, and forgets an ended one', async () => {
      const { sandbox, journal } = await newSandbox(make)
      const process = await sandbox.spawn(['sleep', '1000'])
      await expect(attempt(() => sandbox.processes.remove(process.id))).rejects.toMatchObject({
        code: 'process_running',
      })
      await process.kill()
      await sandbox.processes.remove(process.id)
      expect(await sandbox.processes.list()).toEqual([])
      expect(exitsOf(await allEvents(journal), process.id)).toHaveLength(1)
    })

    it('the list has only the newest ended processes up to the limit', async () => {
      const { sandbox } = await newSandbox(make, { limits: { remembered: 3 } })
      const ids: string[] = []
      for (const one of numbers(1, 6)) {
        const process = await sandbox.spawn(`exit ${one}`)
        ids.push(process.id)
        await process.exit
      }
      expect((await sandbox.processes.list()).map(({ id }) => id)).toEqual(ids.slice(-3))
    })

    it('a process above the limit is refused, and the sandbox continues', async () => {
      const { sandbox, journal } = await newSandbox(make, { limits: { processes: 3 } })
      const [first] = await Promise.all(numbers(1, 3).map(() => sandbox.spawn(['sleep', '1000'])))
      await expect(sandbox.spawn(['sleep', '1000'])).rejects.toMatchObject({
        code: 'process_limit',
        retryable: true,
      })
      await expect(sandbox.exec('true')).rejects.toMatchObject({ code: 'process_limit' })
      expect(await allEvents(journal, { types: ['limit.reached'] })).toMatchObject([
        { data: { limit: 'processes', max: 3 } },
        { data: { limit: 'processes', max: 3 } },
      ])
      await first?.kill()
      expect((await sandbox.exec('echo on')).stdout).toBe('on\n')
    })

    it('concurrent spawns do not exceed the process limit', async () => {
      const { sandbox } = await newSandbox(make, { limits: { processes: 5 } })
      const results = await Promise.allSettled(numbers(1, 20).map(() => sandbox.spawn(['sleep', '1000'])))
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(5)
    })

    it('attach returns a working handle for a process id', async () => {
      const { sandbox } = await shared()
      const process = await sandbox.spawn('echo before; cat; exit 6')
      await watch(process).shows('before')
      const again = await sandbox.processes.attach(process.id)
      expect({ id: again.id, pid: again.pid }).toEqual({ id: process.id, pid: process.pid })
      const screen = watch(again)
      await screen.shows('before')
      await again.input('through the other handle\n')
      await screen.shows('through the other handle')
      await again.end()
      expect(await again.exit).toMatchObject({ exitCode: 6 })
      expect(await (await sandbox.processes.attach(process.id)).exit).toMatchObject({ exitCode: 6 })
    })

    it('an exit resolves only after it is in the journal', async () => {
      const { sandbox, journal } = await newSandbox(make, { commitMs: 30 })
      for (const command of ['exit 0', 'echo out; exit 3', 'kill -9 $$']) {
        const process = await sandbox.spawn(command)
        const exit = await process.exit
        expect(exitsOf(await allEvents(journal), process.id)).toMatchObject([{ data: { ...exit } }])
      }
    })
  })
}
