import { constants } from 'node:os'
import { VitrineError } from '@vitrine/protocol'
import type { Launch } from './machine.ts'

/** The error for a program that could not be started, from the failed step and the kernel's error number. */
export function launchError(step: string, errno: number, what: string, { argv, cwd }: Launch): VitrineError {
  const { ENOENT, ENOTDIR, EACCES, ENOEXEC, EISDIR, EAGAIN, ENOMEM, E2BIG, EINVAL, EPERM } = constants.errno
  const program = argv[0] ?? ''
  const details = { step, errno }
  if (step === 'cwd' && (errno === ENOENT || errno === ENOTDIR))
    return new VitrineError('cwd_not_found', `The working directory ${cwd} does not exist.`, { details })
  if (step === 'cwd' && (errno === EACCES || errno === EPERM))
    return new VitrineError('cwd_outside', `The working directory ${cwd} may not be entered.`, { details })
  if (errno === EAGAIN || errno === ENOMEM) {
    return new VitrineError(
      'process_refused',
      `"${program}" could not be started: the limit of processes or memory is reached.`,
      { details },
    )
  }
  if (step === 'exec' && (errno === ENOENT || errno === ENOTDIR))
    return new VitrineError('command_not_found', `There is no program "${program}" in the sandbox.`, {
      details,
    })
  if (step === 'exec' && [EACCES, ENOEXEC, EISDIR, EPERM].includes(errno))
    return new VitrineError('command_not_executable', `"${program}" exists but cannot be executed.`, {
      details,
    })
  if (step === 'exec' && (errno === E2BIG || errno === EINVAL))
    return new VitrineError(
      'argument_invalid',
      `The arguments or the environment of "${program}" are too long.`,
      { details },
    )
  return new VitrineError(
    'sandbox_start_failed',
    `Starting "${program}" failed at ${step} (${what}): error ${errno}.`,
    {
      details,
    },
  )
}

/** The line that `vitrine-machine` writes when it fails: `<step> <errno> <what>`. */
export function parseFailure(line: string): { step: string; errno: number; what: string } | undefined {
  const [, step, errno, what] = /^(.+?) (\d+) ([^\n]*)/.exec(line) ?? []
  return step === undefined || what === undefined ? undefined : { step, errno: Number(errno), what }
}
