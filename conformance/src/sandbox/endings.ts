import { constants } from 'node:os'
import { describe, expect, it } from 'vitest'
import { numbers } from '../events/coverage.ts'
import { type MakeSandbox, sharedSandbox } from './kit.ts'
import { countMarked, newMark, waitForMarked, waitUntilGone } from './marks.ts'

/** The signals whose default action ends a process. */
const deadly = Object.entries(constants.signals).filter(
  ([name]) =>
    !['SIGCHLD', 'SIGCONT', 'SIGSTOP', 'SIGTSTP', 'SIGTTIN', 'SIGTTOU', 'SIGURG', 'SIGWINCH'].includes(name),
)

export function endingCases(make: MakeSandbox): void {
  describe('endings', () => {
    const shared = sharedSandbox(make)

    it('reports every exit code from 0 to 255 unchanged', async () => {
      const { sandbox } = await shared()
      const codes = numbers(0, 255)
      for (let at = 0; at < codes.length; at += 16) {
        const some = codes.slice(at, at + 16)
        const results = await Promise.all(some.map((code) => sandbox.exec(['sh', '-c', `exit ${code}`])))
        for (const [index, result] of results.entries())
          expect(result).toMatchObject({
            exitCode: some[index],
            signal: null,
            outcome: some[index] === 0 ? 'ok' : 'failed',
          })
      }
    })

    it('reports every death by a signal as that signal, never as an exit code', async () => {
      const { sandbox } = await shared()
      const kill = (number: number) => sandbox.exec(['sh', '-c', `ulimit -c 0; kill -${number} $$`])
      const results = await Promise.all(deadly.map(([, number]) => kill(number)))
      for (const [index, result] of results.entries()) {
        const [name, number] = deadly[index] ?? ['', 0]
        // One number can have two names: SIGABRT and SIGIOT, SIGIO and SIGPOLL.
        const names = deadly.filter(([, other]) => other === number).map(([other]) => other)
        expect({ name, ...result }).toMatchObject({ name, outcome: 'failed', exitCode: null })
        expect(names).toContain(result.signal)
      }
    })

    it('never reports a death by a real-time signal as success', async () => {
      const { sandbox } = await shared()
      for (const number of [34, 40, 64]) {
        const result = await sandbox.exec(['sh', '-c', `kill -${number} $$`])
        expect({ number, ...result }).toMatchObject({ number, outcome: 'failed' })
        expect(result.exitCode).not.toBe(0)
      }
    })

    it('a time limit ends the whole tree: children, their children, and those that left the session', async () => {
      const under = await shared()
      const mark = newMark()
      const command = `sleep ${mark} & setsid sleep ${mark} & (sleep ${mark} & sleep ${mark}) & wait`
      const result = await under.sandbox.exec(['sh', '-c', command], { timeoutMs: 400 })
      expect(result).toMatchObject({ outcome: 'timeout', exitCode: null, signal: 'SIGKILL' })
      await waitUntilGone(under, mark)
    })

    it('returns the output that was written before the time limit', async () => {
      const { sandbox } = await shared()
      const result = await sandbox.exec('echo before; echo error >&2; sleep 60', { timeoutMs: 400 })
      expect(result).toMatchObject({ outcome: 'timeout', stdout: 'before\n', stderr: 'error\n' })
    })

    it('a program that ends in time is not affected by its limit', async () => {
      const { sandbox } = await shared()
      expect(await sandbox.exec('exit 5', { timeoutMs: 60_000 })).toMatchObject({
        outcome: 'failed',
        exitCode: 5,
      })
    })

    it('an abort in the middle ends the whole tree', async () => {
      const under = await shared()
      const mark = newMark()
      const caller = new AbortController()
      const running = under.sandbox.exec(`sleep ${mark} & setsid sleep ${mark} & wait`, {
        signal: caller.signal,
      })
      await waitForMarked(under, mark, 3)
      caller.abort()
      expect(await running).toMatchObject({ outcome: 'cancelled', exitCode: null, signal: 'SIGKILL' })
      await waitUntilGone(under, mark)
    })

    it('runs nothing when the signal is already aborted', async () => {
      const { sandbox } = await shared()
      const result = await sandbox.exec('touch ran', { signal: AbortSignal.abort() })
      expect(result).toMatchObject({ outcome: 'cancelled', exitCode: null, signal: null, stdout: '' })
      expect((await sandbox.exec('ls -A')).stdout).toBe('')
    })

    it('does not wait for a background process that holds its pipes', async () => {
      const under = await shared()
      const mark = newMark()
      const result = await under.sandbox.exec(`sleep ${mark} & echo bg`)
      expect(result).toMatchObject({ outcome: 'ok', exitCode: 0, stdout: 'bg\n' })
      expect(await countMarked(under, mark)).toBe(1)
    })

    it('a background process that keeps writing is not blocked by the unread pipe', async () => {
      const { sandbox } = await shared()
      await sandbox.exec(
        '(for i in 1 2 3 4 5 6; do head -c 100000 /dev/zero; sleep 0.05; done; touch wrote-on) & echo',
      )
      const { outcome } = await sandbox.exec('while [ ! -e wrote-on ]; do sleep 0.05; done', {
        timeoutMs: 15_000,
      })
      expect(outcome).toBe('ok')
    })

    it('a program that ignores SIGTERM ends all the same, by limit and by abort', async () => {
      const under = await shared()
      const mark = newMark()
      const stubborn = `trap '' TERM INT HUP; sleep ${mark}; while :; do sleep ${mark}; done`
      expect(await under.sandbox.exec(stubborn, { timeoutMs: 300 })).toMatchObject({ outcome: 'timeout' })
      await waitUntilGone(under, mark)
      const caller = new AbortController()
      const running = under.sandbox.exec(stubborn, { signal: caller.signal })
      await waitForMarked(under, mark, 2)
      caller.abort()
      expect(await running).toMatchObject({ outcome: 'cancelled' })
      await waitUntilGone(under, mark)
    })
  })
}
