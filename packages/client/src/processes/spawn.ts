import {
  type Command,
  type Process,
  type ProcessInfo,
  type SpawnOptions,
  VitrineError,
} from '@vitrine/protocol'
import type { HttpClient } from '../http/http-client.ts'
import { withFields } from '../http/options.ts'
import { requestJson } from '../http/request.ts'
import { RemoteProcess } from './remote-process.ts'
import { timeLimit } from './time-limit.ts'

/** Starts a command and returns while it runs. */
export async function spawn(http: HttpClient, command: Command, options: SpawnOptions): Promise<Process> {
  const { shell = true, timeoutMs, tty, signal, ...rest } = options
  if (signal?.aborted)
    throw new VitrineError('cancelled', 'The spawn was cancelled before it began.', { cause: signal.reason })
  const json = withFields('spawn', rest, {
    command,
    args: undefined,
    interactive: undefined,
    ...(typeof command === 'string' && { shell }),
    timeoutMs: timeLimit(timeoutMs),
    tty,
  })
  // Not cancelled by the signal: the caller would not know whether the process was started.
  const info = await requestJson<ProcessInfo>(http, { method: 'POST', path: ['processes'], json })
  const process = new RemoteProcess(http, info)
  const kill = () => void process.kill().catch(() => undefined)
  if (signal?.aborted) kill()
  else signal?.addEventListener('abort', kill, { once: true })
  return process
}
