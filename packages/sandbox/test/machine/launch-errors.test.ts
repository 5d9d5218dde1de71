import { constants } from 'node:os'
import { describe, expect, it } from 'vitest'
import { launchError, parseFailure } from '../../src/machine/launch-errors.ts'

const launch = { argv: ['tool', 'x'], cwd: '/srv/below', env: {}, input: false }
const { ENOENT, ENOTDIR, EACCES, ENOEXEC, EISDIR, EAGAIN, ENOMEM, E2BIG, EPERM, EIO } = constants.errno

describe('launchError', () => {
  it.each([
    ['cwd', ENOENT, 'cwd_not_found', '/srv/below'],
    ['cwd', ENOTDIR, 'cwd_not_found', '/srv/below'],
    ['cwd', EACCES, 'cwd_outside', '/srv/below'],
    ['cwd', EPERM, 'cwd_outside', '/srv/below'],
    ['exec', ENOENT, 'command_not_found', '"tool"'],
    ['exec', ENOTDIR, 'command_not_found', '"tool"'],
    ['exec', EACCES, 'command_not_executable', '"tool"'],
    ['exec', EPERM, 'command_not_executable', '"tool"'],
    ['exec', ENOEXEC, 'command_not_executable', '"tool"'],
    ['exec', EISDIR, 'command_not_executable', '"tool"'],
    ['exec', E2BIG, 'argument_invalid', '"tool"'],
    ['fork', EAGAIN, 'process_refused', '"tool"'],
    ['exec', ENOMEM, 'process_refused', '"tool"'],
    ['seccomp', EIO, 'sandbox_start_failed', 'seccomp'],
    ['cgroup', ENOENT, 'sandbox_start_failed', 'cgroup'],
  ])('converts a failure at %s with errno %i to %s', (step, errno, code, named) => {
    const error = launchError(step, errno, 'what', launch)
    expect(error).toMatchObject({ code, details: { step, errno } })
    expect(error.message).toContain(named)
  })
})

describe('parseFailure', () => {
  it.each([
    ['exec 2 tool\n', { step: 'exec', errno: 2, what: 'tool' }],
    ['cwd 13 /a b/c\n', { step: 'cwd', errno: 13, what: '/a b/c' }],
    ['usage 22 \n', { step: 'usage', errno: 22, what: '' }],
    ['exec 2 name\nwith a break\n', { step: 'exec', errno: 2, what: 'name' }],
    ['', undefined],
    ['bwrap: setting up uid map: Permission denied\n', undefined],
  ])('parses the line %j', (line, failure) => {
    expect(parseFailure(line)).toEqual(failure)
  })
})
