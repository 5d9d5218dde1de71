import { describe, expect, it } from 'vitest'
import { argvOf, workingDirectory } from '../../src/processes/command.ts'
import { exitOf } from '../../src/processes/running.ts'

describe('the arguments of a command', () => {
  it.each([
    ['a text runs in sh', 'echo a', undefined, ['sh', '-c', 'echo a']],
    ['a text runs in the shell it names', 'echo a', 'bash', ['bash', '-c', 'echo a']],
    ['a text comes after a prefix', 'echo a', ['bash', '-lc'], ['bash', '-lc', 'echo a']],
    ['a list stays as it is', ['echo', 'a b', ''], 'bash', ['echo', 'a b', '']],
    ['an empty text is a command of its own', '', undefined, ['sh', '-c', '']],
  ])('%s', (_name, command, shell, argv) => {
    expect(argvOf(command, shell)).toEqual(argv)
  })

  it.each([
    ['command', 'a\0b', undefined],
    ['command', [], undefined],
    ['command[0]', [''], undefined],
    ['command[1]', ['echo', 'a\0'], undefined],
    ['shell', 'echo', []],
    ['shell[0]', 'echo', ''],
    ['shell[1]', 'echo', ['sh', '\0']],
  ])('%s is named when it cannot be meant: %j in %j', (name, command, shell) => {
    expect(() => argvOf(command, shell)).toThrow(
      expect.objectContaining({ code: 'argument_invalid', message: expect.stringContaining(`${name}:`) }),
    )
  })
})

describe('the working directory', () => {
  const places = ['/srv', '/home/sandbox', '/tmp']

  it.each([
    [undefined, '/srv'],
    ['', '/srv'],
    ['.', '/srv'],
    ['a/../b', '/srv/b'],
    ['/srv/a', '/srv/a'],
    ['../tmp/x', '/tmp/x'],
    ['/home/sandbox', '/home/sandbox'],
  ])('%j is %s', (cwd, path) => {
    expect(workingDirectory('/srv', places, cwd)).toBe(path)
  })

  it.each(['..', '/', '/workshop', '/tmp/../etc', '/home'])('%s is outside', (cwd) => {
    expect(() => workingDirectory('/srv', places, cwd)).toThrow(
      expect.objectContaining({ code: 'cwd_outside' }),
    )
  })

  it('holds no NUL', () => {
    expect(() => workingDirectory('/srv', places, 'a\0b')).toThrow(
      expect.objectContaining({ code: 'argument_invalid' }),
    )
  })
})

describe('how a process ended', () => {
  it.each([
    ['well', { code: 0, signal: null }, undefined, 'ok'],
    ['badly', { code: 7, signal: null }, undefined, 'failed'],
    ['by a signal of its own', { code: null, signal: 'SIGSEGV' }, undefined, 'failed'],
    ['by our signal', { code: null, signal: 'SIGKILL' }, 'cancelled', 'cancelled'],
    ['by its time limit', { code: null, signal: 'SIGKILL' }, 'timeout', 'timeout'],
    ['in its own way when asked to', { code: 0, signal: null }, 'cancelled', 'ok'],
    ['badly when asked to', { code: 1, signal: null }, 'timeout', 'failed'],
    ['unseen', { code: null, signal: null }, undefined, 'interrupted'],
    ['with its sandbox', { code: 0, signal: null }, 'interrupted', 'interrupted'],
  ] as const)('is said of one that ended %s', (_name, ending, reason, outcome) => {
    const exit = exitOf(ending, reason)
    expect(exit.outcome).toBe(outcome)
    const seen =
      outcome === 'interrupted'
        ? { exitCode: null, signal: null }
        : { exitCode: ending.code, signal: ending.signal }
    expect(exit).toMatchObject(seen)
  })
})
