import { text } from 'node:stream/consumers'
import { launchError, parseFailure } from './launch-errors.ts'
import type { Launch, Launched } from './machine.ts'
import { readProcessTable } from './process-table.ts'
import { keeperAt, killKept, signalSupervised, stopKept } from './supervised.ts'
import { startWithTerminal } from './terminal.ts'

export interface TerminalTarget {
  /** Path of `vitrine-machine`. */
  readonly program: string
  /** What `vitrine-machine run` is told about the sandbox and about who runs. */
  readonly machineArgs: readonly string[]
  /** The `ptmx` that makes terminals there. */
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
  // It says nothing when the command is there.
  const failure = parseFailure(report === undefined ? '' : await text(report))
  if (failure !== undefined) {
    terminal.close()
    await ended
    throw launchError(failure.step, failure.errno, failure.what, launch)
  }
  const supervisor = keeperAt([...readProcessTable().values()].find(({ parent }) => parent === pid)?.pid ?? 0)
  return {
    pid,
    top: pid,
    ended,
    terminal,
    signal: (name, scope) => signalSupervised(supervisor, name, scope),
    killTree: async () => void (await killKept(supervisor)),
    stopTree: async (graceMs) => void (await stopKept(supervisor, graceMs)),
  }
}
