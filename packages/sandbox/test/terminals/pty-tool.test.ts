import type { PtyUpdate } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { commandPolicy } from '../../src/index.ts'
import { type PtyScene, ptyScene } from './pty.ts'

/** Polls until the session's output contains the text, and returns all output. */
async function saying(scene: PtyScene, sessionId: number, words: RegExp, said = ''): Promise<string> {
  const { output, exitCode } = await scene.pty.ptyWriteStdin({ sessionId, chars: '\n' })
  const all = said + output
  if (words.test(all) || exitCode !== undefined) return all
  return saying(scene, sessionId, words, all)
}

function sessionOf({ sessionId }: PtyUpdate): number {
  if (sessionId === undefined) throw new Error('Expected a session.')
  return sessionId
}

describe('a command that ends within the yield time', () => {
  it('returns all output and the exit, and leaves no session', async () => {
    const { pty } = await ptyScene()
    const update = await pty.ptyExecStart({ cmd: 'echo out; echo err >&2; exit 3' })
    expect(update).toEqual({
      output: expect.stringMatching(/^(out\nerr\n|err\nout\n)$/),
      exitCode: 3,
      signal: null,
      wallTimeMs: expect.any(Number),
    })
  })

  it('returns the signal that ended the command', async () => {
    const { pty } = await ptyScene()
    expect(await pty.ptyExecStart({ cmd: 'kill -TERM $$' })).toMatchObject({
      exitCode: null,
      signal: 'SIGTERM',
    })
  })

  it('uses the given folder, shell and variables', async () => {
    const { sandbox, pty } = await ptyScene()
    await sandbox.exec('mkdir below')
    const { output } = await pty.ptyExecStart({
      cmd: 'basename $PWD; echo $WORD; false; echo $WORD',
      workdir: 'below',
      shell: ['sh', '-ec'],
      env: { WORD: 'given' },
    })
    expect(output).toBe('below\ngiven\n')
  })

  it('has a terminal only on request', async () => {
    const { pty } = await ptyScene()
    const cmd = 'test -t 0 && test -t 1 && echo terminal || echo none'
    expect((await pty.ptyExecStart({ cmd })).output).toBe('none\n')
    expect((await pty.ptyExecStart({ cmd, tty: true })).output).toBe('terminal\r\n')
  })

  it('reads end of file from its input without a terminal', async () => {
    const { pty } = await ptyScene()
    expect(await pty.ptyExecStart({ cmd: ['cat'] })).toMatchObject({ output: '', exitCode: 0 })
  })

  it('truncates the output to the token limit and returns the original count', async () => {
    const { pty } = await ptyScene()
    const update = await pty.ptyExecStart({ cmd: 'seq 1 10000', maxOutputTokens: 50 })
    expect(update.originalTokenCount).toBe(Math.ceil(48_894 / 4))
    expect(update.output).toMatch(
      /^Total output lines: 10000\n\n1\n2\n[\d\n]*…\d+ tokens truncated…[\d\n]*\n10000\n$/,
    )
    expect(Buffer.byteLength(update.output)).toBeLessThanOrEqual(200)
  })
})

describe('a command that outlasts the yield time', () => {
  it('takes input and returns the output since the last call', async () => {
    const scene = await ptyScene()
    const cmd = 'stty -echo; echo ready; while read line; do echo "got $line"; done; echo over; exit 4'
    const first = await scene.pty.ptyExecStart({ cmd, tty: true, yieldTimeMs: 250 })
    const sessionId = sessionOf(first)
    expect(sessionId).toBeGreaterThanOrEqual(1_000)
    expect(sessionId).toBeLessThan(100_000)
    if (!first.output.includes('ready')) await saying(scene, sessionId, /ready/)
    await scene.pty.ptyWriteStdin({ sessionId, chars: 'one\n' }).then(async ({ output }) => {
      expect(output + (output.includes('got') ? '' : await saying(scene, sessionId, /got/))).toContain(
        'got one',
      )
    })
    const last = await scene.pty.ptyWriteStdin({ sessionId, chars: '\x04', yieldTimeMs: 30_000 })
    expect(last).toMatchObject({ output: 'over\r\n', exitCode: 4, signal: null })
    expect(last).not.toHaveProperty('sessionId')
    expect(last).not.toHaveProperty('originalTokenCount')
  })

  it('removes a session once its exit was returned', async () => {
    const { pty } = await ptyScene()
    const sessionId = sessionOf(await pty.ptyExecStart({ cmd: 'read line', tty: true, yieldTimeMs: 250 }))
    await pty.ptyWriteStdin({ sessionId, chars: '\n', yieldTimeMs: 30_000 })
    await expect(pty.ptyWriteStdin({ sessionId, chars: 'x' })).rejects.toMatchObject({
      code: 'not_found',
      retryable: false,
    })
  })

  it('returns the exit when input arrives after the end', async () => {
    const { sandbox, pty } = await ptyScene()
    const sessionId = sessionOf(
      await pty.ptyExecStart({ cmd: 'echo $$; sleep 60', tty: true, yieldTimeMs: 250 }),
    )
    const [running] = await sandbox.processes.list()
    await sandbox.processes.kill(running?.id ?? '')
    expect(await pty.ptyWriteStdin({ sessionId, chars: 'too late\n' })).toMatchObject({ signal: 'SIGKILL' })
  })

  it('rejects input without a terminal, but can still be polled', async () => {
    const { sandbox, pty } = await ptyScene()
    const cmd = 'until test -e go; do sleep 0.05; done; echo done'
    const sessionId = sessionOf(await pty.ptyExecStart({ cmd, yieldTimeMs: 250 }))
    await expect(pty.ptyWriteStdin({ sessionId, chars: 'x' })).rejects.toMatchObject({
      code: 'terminal_required',
    })
    await sandbox.exec('touch go')
    const update = await pty.ptyWriteStdin({ sessionId, yieldTimeMs: 30_000 })
    expect(update).toMatchObject({ output: 'done\n', exitCode: 0 })
  })

  it('ptyTerminateAll ends all sessions, and pending calls return their exit', async () => {
    const { sandbox, pty } = await ptyScene()
    const ids = await Promise.all(
      [true, false].map(async (tty) =>
        sessionOf(await pty.ptyExecStart({ cmd: 'sleep 60', tty, yieldTimeMs: 250 })),
      ),
    )
    const waiting = pty.ptyWriteStdin({ sessionId: ids[0] ?? 0, yieldTimeMs: 30_000 })
    await pty.ptyTerminateAll()
    expect(await waiting).toMatchObject({ exitCode: null, signal: 'SIGKILL' })
    expect((await sandbox.processes.list()).filter(({ state }) => state === 'running')).toEqual([])
    for (const sessionId of ids)
      await expect(pty.ptyWriteStdin({ sessionId, chars: 'x' })).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('the journal', () => {
  it('records every call as an operation with its events below it', async () => {
    const { pty, operations } = await ptyScene()
    const sessionId = sessionOf(
      await pty.ptyExecStart({ cmd: 'read line; exit 2', tty: true, yieldTimeMs: 250 }),
    )
    await pty.ptyWriteStdin({ sessionId, chars: 'x\n', yieldTimeMs: 30_000 })
    await pty.ptyTerminateAll()
    const seen = (await operations()).filter(({ op }) => /^pty|^spawn|^process/.test(String(op)))
    expect(seen.map(({ op, parent }) => [op, parent !== undefined])).toEqual([
      ['pty_exec_start', false],
      ['spawn', true],
      ['pty_write_stdin', false],
      ['process_input', true],
      ['pty_terminate_all', false],
    ])
    expect(seen.map(({ end }) => end)).toMatchObject([
      { outcome: 'ok', sessionId },
      {},
      { outcome: 'failed', exitCode: 2 },
      {},
      { outcome: 'ok', count: 0 },
    ])
  })

  it('judges the variables of a command with it', async () => {
    const { pty } = await ptyScene({ policy: commandPolicy({ otherwise: 'allow' }) })
    await expect(pty.ptyExecStart({ cmd: 'ls', env: { LD_PRELOAD: './x.so' } })).rejects.toThrow('LD_PRELOAD')
    expect(await pty.ptyExecStart({ cmd: 'ls', env: { CI: '1' } })).toMatchObject({ exitCode: 0 })
  })

  it('records a denied command as denied, and nothing runs', async () => {
    const policy = commandPolicy({ deny: ['rm'] })
    const { sandbox, pty, operations } = await ptyScene({ policy })
    await expect(pty.ptyExecStart({ cmd: 'rm x' })).rejects.toMatchObject({ code: 'gate_refused' })
    expect(await sandbox.processes.list()).toEqual([])
    expect((await operations()).find(({ op }) => op === 'pty_exec_start')?.end).toMatchObject({
      outcome: 'failed',
      errorCode: 'gate_refused',
    })
  })
})

describe('an invalid argument', () => {
  it.each([
    ['yieldTimeMs', { cmd: 'true', yieldTimeMs: Number.NaN }],
    ['maxOutputTokens', { cmd: 'true', maxOutputTokens: 0 }],
    ['maxOutputTokens', { cmd: 'true', maxOutputTokens: 1.5 }],
    ['command', { cmd: [] }],
  ])('rejects an invalid argument by its name: %s', async (name, asked) => {
    const { pty } = await ptyScene()
    await expect(pty.ptyExecStart(asked)).rejects.toMatchObject({
      code: 'argument_invalid',
      message: expect.stringContaining(name),
    })
  })
})
