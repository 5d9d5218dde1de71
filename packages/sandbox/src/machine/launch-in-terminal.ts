import { text } from 'node:stream/consumers'
import { launchError, parseFailure } from './launch-errors.ts'
import type { Launch, Launched } from './machine.ts'
import { readProcessTable } from './process-table.ts'
import { killSupervised, signalSupervised, stopSupervised, supervisorAt } from './supervised.ts'
import { startWithTerminal } from './terminal.ts'

export interface TerminalTarget {
  /** Path of `vitrine-machine`. */
  readonly program: string
  /** The arguments of `vitrine-machine run` for the sandbox's namespaces and the user. */
  readonly machineArgs: readonly string[]
  /** The path of the `ptmx` device that creates terminals for the sandbox. */
  readonly multiplexer: string
}

/** Starts a command in a terminal through `vitrine-machine run`, which ends exactly as the command ended. */
export async function launchInTerminal(
  { program, machineArgs, multiplexer }: TerminalTarget,
  launch: Launch & { readonly tty: NonNullable<Launch['tty']> },
): Promise<Launched> {
  const { argv, cwd, env, tty } = launch
  const size = [`cols=${tty.cols}`, `rows=${tty.rows}`]
  const args = ['run', ...machineArgs, ...size, `cwd=${cwd}`, '--', ...argv]
  const { pid, ended, terminal, report } = await startWithTerminal(
    { file: program, args, env },
    multiplexer,
    launch,
  )
  // The report is empty when the command has started.
  const failure = parseFailure(report === undefined ? '' : await text(report))
  if (failure !== undefined) {
    terminal.close()
    await ended
    throw launchError(failure.step, failure.errno, failure.what, launch)
  }
  const supervisor = supervisorAt(
    [...readProcessTable().values()].find(({ parent }) => parent === pid)?.pid ?? 0,
  )
  return {
    pid,
    top: pid,
    startedAt: supervisor.startedAt,
    ended,
    terminal,
    signal: (name, scope) => signalSupervised(supervisor, name, scope),
    killTree: async () => void (await killSupervised(supervisor)),
    stopTree: async (graceMs) => void (await stopSupervised(supervisor, graceMs)),
  }
}
