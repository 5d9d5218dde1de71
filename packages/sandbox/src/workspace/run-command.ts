import { cancelled } from '@vitrine/archives'
import type { Command, ExecOptions, ExecResult } from '@vitrine/protocol'
import { CommandFailure } from './command-failure.ts'

export type Exec = (command: Command, options: ExecOptions) => Promise<ExecResult>

/** Runs a command and throws `CommandFailure` if it fails. */
export async function runCommand(
  exec: Exec,
  command: Command,
  options: ExecOptions & { readonly signal: AbortSignal },
): Promise<ExecResult> {
  const result = await exec(command, options)
  if (result.outcome === 'ok') return result
  if (options.signal.aborted) throw cancelled(options.signal)
  throw new CommandFailure(result)
}
