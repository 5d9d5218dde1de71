import {
  type Command,
  type Process,
  type ProcessInfo,
  type SpawnOptions,
  VitrineError,
} from '@vitrine/protocol'
import { wholeNumber } from '../wire/address.ts'
import { askJson } from '../wire/ask.ts'
import type { Wire } from '../wire/wire.ts'
import { RemoteProcess } from './remote-process.ts'
import { timeLimit } from './time-limit.ts'

/** Starts a command and comes back while it runs. */
export async function spawn(wire: Wire, command: Command, options: SpawnOptions): Promise<Process> {
  const { shell = true, cwd, env, user, timeoutMs, tty, owner, restart, signal } = options
  if (signal?.aborted)
    throw new VitrineError('cancelled', 'It was called off before it began.', { cause: signal.reason })
  const json = {
    command,
    ...(typeof command === 'string' && { shell }),
    cwd,
    env,
    user,
    timeoutMs: timeLimit(timeoutMs),
    ...(tty && {
      tty: { cols: wholeNumber('tty.cols', tty.cols, 1), rows: wholeNumber('tty.rows', tty.rows, 1) },
    }),
    owner,
    restart,
  }
  // Not called off with the signal: nobody would know whether it was started.
  const info = await askJson<ProcessInfo>(wire, { method: 'POST', path: ['processes'], json })
  const process = new RemoteProcess(wire, info)
  const kill = () => void process.kill().catch(() => undefined)
  if (signal?.aborted) kill()
  else signal?.addEventListener('abort', kill, { once: true })
  return process
}
