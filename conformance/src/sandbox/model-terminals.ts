import { describe, expect, it } from 'vitest'
import { allEvents } from './events.ts'
import { type MakeSandbox, newSandbox, sharedSandbox } from './kit.ts'
import { newMark, waitForMarked, waitUntilGone } from './marks.ts'

/** The terminal tool for models. */
export function modelTerminalCases(make: MakeSandbox): void {
  describe('terminals for models', () => {
    const shared = sharedSandbox(make)

    it('a command that ends within its yield time is one update', async () => {
      const { sandbox } = await shared()
      const update = await sandbox.ptyExecStart({
        cmd: 'pwd; echo "$NAME"; exit 3',
        workdir: '/tmp',
        env: { NAME: 'x' },
      })
      expect(update).toEqual({
        output: '/tmp\nx\n',
        exitCode: 3,
        signal: null,
        wallTimeMs: expect.any(Number),
      })
    })

    it('a command that runs on is typed into and polled by its session', async ({ skip }) => {
      const { sandbox } = await shared()
      if (!sandbox.capabilities.terminals) skip()
      const cmd = 'stty -echo; echo ready; while read line; do echo "got $line"; done'
      const started = await sandbox.ptyExecStart({ cmd, tty: true, yieldTimeMs: 250 })
      const { sessionId = 0 } = started
      let output = started.output
      while (!output.includes('ready'))
        output += (await sandbox.ptyWriteStdin({ sessionId, yieldTimeMs: 250 })).output
      let said = (await sandbox.ptyWriteStdin({ sessionId, chars: 'hello\n' })).output
      while (!said.includes('got hello')) said += (await sandbox.ptyWriteStdin({ sessionId })).output
      let last = await sandbox.ptyWriteStdin({ sessionId, chars: '\x04' })
      while (last.exitCode === undefined) last = await sandbox.ptyWriteStdin({ sessionId })
      expect(last.exitCode).toBe(0)
      await expect(sandbox.ptyWriteStdin({ sessionId, chars: 'x' })).rejects.toMatchObject({
        code: 'not_found',
      })
    })

    it('an update has at most as many tokens as asked for, and says how many there were', async () => {
      const { sandbox } = await shared()
      const update = await sandbox.ptyExecStart({ cmd: 'seq 1 10000', maxOutputTokens: 50 })
      expect(update.originalTokenCount).toBeGreaterThan(10_000)
      expect(update.output.length).toBeLessThan(1_000)
      expect(update.output).toContain('10000')
    })

    it('all of them are terminated at once, and each call is on record', async () => {
      const under = await newSandbox(make)
      const { sandbox, journal } = under
      const mark = newMark()
      const sessions = [1, 2].map(() => sandbox.ptyExecStart({ cmd: `sleep ${mark}`, yieldTimeMs: 250 }))
      for (const { sessionId } of await Promise.all(sessions)) expect(sessionId).toEqual(expect.any(Number))
      await waitForMarked(under, `sleep ${mark}`, 2)
      await sandbox.ptyTerminateAll()
      await waitUntilGone(under, mark)
      const events = await allEvents(journal, { types: ['operation.finished'] })
      const ops = events.map(({ data }) => String(data.op)).filter((op) => op.startsWith('pty_'))
      expect(ops.sort()).toEqual(['pty_exec_start', 'pty_exec_start', 'pty_terminate_all'])
    })

    it.each([
      ['a command that is missing', {}, 'cmd'],
      ['an unknown key', { cmd: 'true', yieldTime: 5 }, 'yieldTimeMs'],
      ['a limit of tokens that is none', { cmd: 'true', maxOutputTokens: 0 }, 'maxOutputTokens'],
    ])('a start with %s is refused by its name', async (_what, start, name) => {
      const { sandbox } = await shared()
      await expect(sandbox.ptyExecStart(start as { cmd: string })).rejects.toThrow(name)
    })
  })
}
