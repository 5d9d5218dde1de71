import { describe, expect, it } from 'vitest'
import { parseCommand } from '../src/command.ts'

const known = ['journal', 'agents']

describe('the arguments of npm run bench', () => {
  it.each([
    [['journal'], { kind: 'run', names: ['journal'], size: 'full', output: 'table' }],
    [
      ['agents', 'journal', 'agents'],
      { kind: 'run', names: ['agents', 'journal'], size: 'full', output: 'table' },
    ],
    [['all', '--tiny'], { kind: 'run', names: known, size: 'tiny', output: 'table' }],
    [['--json', 'agents'], { kind: 'run', names: ['agents'], size: 'full', output: 'json' }],
    [['list'], { kind: 'list' }],
    [['journal', '-h'], { kind: 'help' }],
    [[], { kind: 'wrong', message: 'Expected the name of a benchmark, got none.' }],
    [
      ['agents', 'daemons'],
      { kind: 'wrong', message: 'Unknown benchmark "daemons". Known benchmarks: all, journal, agents.' },
    ],
  ])('parses the arguments %j', (args, command) => {
    expect(parseCommand(args, known)).toEqual(command)
  })

  it('refuses an unknown option', () => {
    expect(parseCommand(['journal', '--small'], known)).toEqual({
      kind: 'wrong',
      message: expect.stringContaining("Unknown option '--small'"),
    })
  })
})
