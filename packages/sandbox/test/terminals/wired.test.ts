import { expect, it } from 'vitest'
import { openSandbox } from '../fixtures/sandbox.ts'

it.each(['none', 'bubblewrap'] as const)(
  'keeps the beginning of a flood and shares sessions between handles (isolation %s)',
  async (isolation) => {
    const sandbox = await openSandbox({ isolation })
    const { output, exitCode, originalTokenCount } = await sandbox.ptyExecStart({ cmd: 'seq 1 1000000' })
    expect(exitCode).toBe(0)
    expect(originalTokenCount).toBe(Math.ceil(6_888_896 / 4))
    expect(output).toMatch(/^Total output lines: 1000000\n\n1\n2\n3\n/)
    expect(output).toMatch(/999999\n1000000\n$/)
    expect(Buffer.byteLength(output)).toBeLessThanOrEqual(40_000)
    const { sessionId = 0 } = await sandbox.ptyExecStart({ cmd: ['cat'], tty: true, yieldTimeMs: 250 })
    const other = sandbox.as({ turn: 'turn_2' })
    expect(await other.ptyWriteStdin({ sessionId, chars: 'x\n\x04', yieldTimeMs: 30_000 })).toMatchObject({
      exitCode: 0,
      signal: null,
      output: 'x\r\nx\r\n',
    })
  },
)

it.each(['none', 'bubblewrap'] as const)(
  'a program that closes its terminal before it exits ends with its own exit code (isolation %s)',
  async (isolation) => {
    const sandbox = await openSandbox({ isolation })
    const program = 'close STDIN; close STDOUT; close STDERR; select(undef, undef, undef, 0.3); exit 7'
    const { exit } = await sandbox.spawn(['perl', '-e', program], { tty: { cols: 80, rows: 24 } })
    expect(await exit).toMatchObject({ exitCode: 7, signal: null })
  },
)
