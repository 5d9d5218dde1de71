import type { Process } from '@vitrine/protocol'
import { describe, expect, it, type TestContext } from 'vitest'
import { attempt } from '../waiting/attempt.ts'
import { eventually, withTimeLimit } from '../waiting/within.ts'
import { allEvents, processEvents, recordedOutput } from './events.ts'
import { type MakeSandbox, type SandboxUnderTest, sharedSandbox } from './kit.ts'
import { countMarked, newMark, waitForMarked, waitUntilGone } from './marks.ts'
import { type Screen, watch } from './screen.ts'

const shell = ['bash', '--norc', '--noprofile', '-i']
const size = { cols: 100, rows: 30 }

export function terminalCases(make: MakeSandbox): void {
  describe('terminals', () => {
    const shared = sharedSandbox(make)
    /** Opens an interactive shell and waits for its prompt. */
    const openShell = async ({ skip }: TestContext) => {
      const under = await withTerminals(shared, skip)
      const process = await under.sandbox.spawn(shell, { tty: size, env: { PS1: '> ' } })
      const screen = watch(process)
      await screen.shows('> ')
      return { under, process, screen }
    }

    it('a terminal has the requested size and a type', async ({ skip }) => {
      const { sandbox } = await withTerminals(shared, skip)
      const process = await sandbox.spawn(
        'tty; stty size; echo $TERM; [ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo all three',
        { tty: size },
      )
      const screen = watch(process)
      expect(await process.exit).toMatchObject({ outcome: 'ok' })
      await screen.ended
      expect(screen.text).toMatch(/\/dev\/pts\/\d+\r\n30 100\r\nxterm-256color\r\nall three\r\n/)
      expect(await sandbox.processes.get(process.id)).toMatchObject({ tty: true })
    })

    it('a resize of a terminal notifies the program', async ({ skip }) => {
      const { sandbox } = await withTerminals(shared, skip)
      const process = await sandbox.spawn(
        `trap 'stty size' WINCH; echo ready; while :; do sleep 0.05; done`,
        { tty: size },
      )
      const screen = watch(process)
      await screen.shows('ready')
      await process.resize(77, 11)
      await screen.shows('11 77')
      await sandbox.processes.resize(process.id, 200, 50)
      await screen.shows('50 200')
      for (const [cols, rows] of [
        [0, 24],
        [80, 0],
        [1.5, 24],
        [100_000, 24],
      ] as const)
        await expect(attempt(() => process.resize(cols, rows))).rejects.toMatchObject({
          code: 'argument_invalid',
        })
    })

    it('an invalid terminal size is refused', async ({ skip }) => {
      const { sandbox } = await withTerminals(shared, skip)
      await expect(sandbox.spawn('true', { tty: { cols: 0, rows: 0 } })).rejects.toMatchObject({
        code: 'argument_invalid',
      })
    })

    it('^C in a terminal interrupts only the foreground job', async (test) => {
      const { under, process, screen } = await openShell(test)
      const [back, front] = [newMark(), newMark()]
      await type(process, `sleep ${back} &`)
      await waitForMarked(under, back, 1)
      await type(process, `sleep ${front}`)
      await waitForMarked(under, front, 1)
      await process.input('\x03')
      await waitUntilGone(under, front)
      expect(await countMarked(under, back)).toBe(1)
      await type(process, 'echo status=$?')
      await screen.shows('status=130')
      await type(process, 'exit 4')
      expect(await process.exit).toMatchObject({ exitCode: 4 })
    })

    it('a terminal has job control: ^Z, jobs, bg and fg', async (test) => {
      const { under, process, screen } = await openShell(test)
      const mark = newMark()
      await type(process, `sleep ${mark}`)
      await waitForMarked(under, mark, 1)
      await process.input('\x1a')
      await screen.shows(/Stopped/)
      await type(process, 'bg')
      await screen.shows('&')
      await type(process, 'jobs')
      await screen.shows(/Running.*\r\n/)
      await type(process, 'fg')
      await screen.shows(/fg\r\n.*sleep .*\r\n/s)
      // The shell prints the job's command before the job is in the foreground.
      await eventually('the job to be interrupted', async () => {
        await process.input('\x03')
        return (await countMarked(under, mark)) === 0
      })
      await type(process, 'jobs; echo none-left')
      await screen.shows('none-left\r\n')
    })

    it('end() sends ^D, which ends the input of a program in a terminal', async ({ skip }) => {
      const { sandbox } = await withTerminals(shared, skip)
      const process = await sandbox.spawn('cat; echo over', { tty: size })
      const screen = watch(process)
      await process.input('hello\r')
      await screen.shows('hello\r\nhello\r\n')
      await process.end()
      await screen.shows('over')
      expect(await process.exit).toMatchObject({ outcome: 'ok' })
    })

    it('every viewer of a terminal gets the same bytes as the journal', async (test) => {
      const { under, process, screen } = await openShell(test)
      const other = watch(process)
      await type(process, 'printf "é€\\033[1mbold\\033[0m\\n"; seq 1 2000; exit')
      await process.exit
      await Promise.all([screen.ended, other.ended])
      expect(screen.bytes.includes('é€\x1b[1mbold')).toBe(true)
      expect(screen.bytes.equals(other.bytes)).toBe(true)
      const events = await allEvents(under.journal)
      expect(recordedOutput(events, process.id, 'terminal').bytes.equals(screen.bytes)).toBe(true)
      expect(processEvents(events, process.id).at(-1)?.type).toBe('process.exited')
    })

    it('a late viewer of a terminal gets the earlier output, and then new output', async (test) => {
      const { process, screen } = await openShell(test)
      await type(process, 'echo ear""ly')
      await screen.shows('early')
      const late = watch(process)
      await late.shows('early')
      await type(process, 'echo la""ter')
      await late.shows('later')
      await screen.shows('later')
      expect(late.text.match(/early\r\n/g)).toHaveLength(1)
      expect(late.text.match(/later\r\n/g)).toHaveLength(1)
      await process.kill()
      const afterwards = watch(process)
      await withTimeLimit('the end of the view', afterwards.ended)
      expect(afterwards.text).toContain('later')
    })

    it('a terminal continues when a viewer leaves or stops reading', async (test) => {
      const { process, screen } = await openShell(test)
      const leaving = new AbortController()
      const first = watch(process, leaving.signal)
      const idle = process.view()
      await idle.next()
      await first.shows('> ')
      leaving.abort()
      await withTimeLimit('the end of the view', first.ended)
      await type(process, 'seq 1 20000; echo still-$((1+1))')
      await screen.shows('still-2')
      await idle.return?.()
      await type(process, 'echo and-$((1+2))')
      await screen.shows('and-3')
    })

    it('calls on an exited terminal are refused with a code that is not retryable', async (test) => {
      const { sandbox } = (await openShell(test)).under
      const process = await sandbox.spawn('exit 3', { tty: size })
      await process.exit
      const dead = { code: 'process_exited', retryable: false }
      await expect(attempt(() => process.input('x'))).rejects.toMatchObject(dead)
      await expect(attempt(() => process.resize(80, 24))).rejects.toMatchObject(dead)
      await expect(attempt(() => process.signal('SIGINT'))).rejects.toMatchObject(dead)
      await expect(attempt(() => sandbox.processes.input(process.id, 'x'))).rejects.toMatchObject(dead)
      await expect(attempt(() => process.end())).rejects.toMatchObject(dead)
    })

    it('kill ends a terminal with all its processes', async (test) => {
      const { under, process } = await openShell(test)
      const mark = newMark()
      await type(process, `sleep ${mark} & nohup setsid sleep ${mark} > /dev/null 2>&1 & sleep ${mark}`)
      await waitForMarked(under, mark, 3)
      expect(await process.kill()).toMatchObject({ outcome: 'cancelled' })
      await waitUntilGone(under, mark)
    })

    it('a viewer of a terminal gets all output before the end', async ({ skip }) => {
      const { sandbox } = await withTerminals(shared, skip)
      const process = await sandbox.spawn('seq 1 50000; echo the end', { tty: size })
      const screen = watch(process)
      await process.exit
      await screen.ended
      expect(screen.text.split('\r\n')).toHaveLength(50_002)
      expect(screen.text.endsWith('the end\r\n')).toBe(true)
    })

    it('a terminal takes a long paste completely', async ({ skip }) => {
      const { sandbox } = await withTerminals(shared, skip)
      const process = await sandbox.spawn('stty raw -echo; echo ready; head -c 300000 | cksum', { tty: size })
      const screen: Screen = watch(process)
      await screen.shows('ready')
      const paste = 'the quick brown fox\n'.repeat(15_000)
      await process.input(paste)
      await process.exit
      const wanted = (await sandbox.exec('cksum', { stdin: paste })).stdout.trim()
      await screen.shows(wanted)
    })
  })
}

async function withTerminals(
  shared: () => Promise<SandboxUnderTest>,
  skip: () => never,
): Promise<SandboxUnderTest> {
  const under = await shared()
  if (!under.sandbox.capabilities.terminals) skip()
  return under
}

function type(process: Process, line: string): Promise<void> {
  return process.input(`${line}\r`)
}
