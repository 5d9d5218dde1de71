import { describe, expect, it } from 'vitest'
import { argvOf, workingDirectory } from '../../src/processes/command.ts'
import { exitOf } from '../../src/processes/running.ts'

describe('the arguments of a command', () => {
  it.each([
    ['a string runs in sh', 'echo a', undefined, ['sh', '-c', 'echo a']],
    ['a string runs in the given shell', 'echo a', 'bash', ['bash', '-c', 'echo a']],
    ['a string comes after the arguments of the shell', 'echo a', ['bash', '-lc'], ['bash', '-lc', 'echo a']],
    ['an array is not changed', ['echo', 'a b', ''], 'bash', ['echo', 'a b', '']],
    ['an empty string is a command', '', undefined, ['sh', '-c', '']],
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
  ])('rejects %s by its name: %j in %j', (name, command, shell) => {
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
  ])('resolves the working directory %j to %s', (cwd, path) => {
    expect(workingDirectory('/srv', places, cwd)).toBe(path)
  })

  it.each(['..', '/', '/workshop', '/tmp/../etc', '/home'])(
    'rejects the working directory %s, which is outside of the sandbox',
    (cwd) => {
      expect(() => workingDirectory('/srv', places, cwd)).toThrow(
        expect.objectContaining({ code: 'cwd_outside' }),
      )
    },
  )

  it('rejects a working directory with a NUL character', () => {
    expect(() => workingDirectory('/srv', places, 'a\0b')).toThrow(
      expect.objectContaining({ code: 'argument_invalid' }),
    )
  })
})

describe('exitOf', () => {
  it.each([
    ['with code 0', { code: 0, signal: null }, undefined, 'ok'],
    ['with another code', { code: 7, signal: null }, undefined, 'failed'],
    ['by a signal that is not ours', { code: null, signal: 'SIGSEGV' }, undefined, 'failed'],
    ['by our signal', { code: null, signal: 'SIGKILL' }, 'cancelled', 'cancelled'],
    ['by its time limit', { code: null, signal: 'SIGKILL' }, 'timeout', 'timeout'],
    ['with code 0 after our signal', { code: 0, signal: null }, 'cancelled', 'ok'],
    ['with another code after our signal', { code: 1, signal: null }, 'timeout', 'failed'],
    ['without a wait status', { code: null, signal: null }, undefined, 'interrupted'],
    ['with its sandbox', { code: 0, signal: null }, 'interrupted', 'interrupted'],
  ] as const)('gives the outcome of a process that ended %s', (_name, ending, reason, outcome) => {
    const exit = exitOf(ending, reason)
    expect(exit.outcome).toBe(outcome)
    const seen =
      outcome === 'interrupted'
        ? { exitCode: null, signal: null }
        : { exitCode: ending.code, signal: ending.signal }
    expect(exit).toMatchObject(seen)
  })
})
