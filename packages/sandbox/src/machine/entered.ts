import { text } from 'node:stream/consumers'
import { killMembers, send } from './kill-tree.ts'
import { launchError, parseFailure } from './launch-errors.ts'
import type { Launch, Launched } from './machine.ts'
import { type Program, startWithPipes } from './pipes.ts'
import { descendantsOf, type ProcessRow, readProcessTable } from './process-table.ts'
import { startWithTerminal } from './terminal.ts'

export interface Entrance {
  /** Path of `vitrine-machine`. */
  readonly program: string
  /** What `vitrine-machine run` is told about the sandbox. */
  readonly orders: readonly string[]
  /** The `ptmx` that makes terminals there. */
  readonly multiplexer: string
}

/** Starts a command through `vitrine-machine run`, which ends exactly as the command ended. */
export async function launchEntered(
  entrance: Entrance,
  launch: Launch,
  ids: readonly string[],
): Promise<Launched> {
  const { argv, cwd, env, tty } = launch
  const size = tty === undefined ? [] : [`cols=${tty.cols}`, `rows=${tty.rows}`]
  const program: Program = {
    file: entrance.program,
    args: ['run', ...entrance.orders, ...ids, ...size, `cwd=${cwd}`, '--', ...argv],
    env,
  }
  const started =
    tty === undefined
      ? await startWithPipes(program, launch, { reports: true })
      : await startWithTerminal(program, entrance.multiplexer, launch)
  const { pid } = started
  // It says nothing when the command is there.
  const failure = parseFailure(started.report === undefined ? '' : await text(started.report))
  if (failure !== undefined) {
    await started.ended
    throw launchError(failure.step, failure.errno, failure.what, launch)
  }
  const handle = {
    pid,
    ended: started.ended,
    signal: (name: NodeJS.Signals, reach: 'program' | 'tree') => signalEntered(pid, name, reach),
    killTree: () => killEntered(pid),
  }
  return 'terminal' in started
    ? { ...handle, terminal: started.terminal }
    : { ...handle, pipes: started.pipes }
}

/** The process that waits inside for its command and adopts what the command leaves behind. */
function keeperOf(outer: number, table: ReadonlyMap<number, ProcessRow>): number | undefined {
  return oldest([...table.values()].filter(({ parent }) => parent === outer))
}

function oldest(rows: readonly ProcessRow[]): number | undefined {
  return rows.toSorted((a, b) => a.startedAt - b.startedAt || a.pid - b.pid)[0]?.pid
}

function signalEntered(outer: number, name: NodeJS.Signals, reach: 'program' | 'tree'): void {
  const table = readProcessTable()
  const keeper = keeperOf(outer, table)
  if (keeper === undefined) return
  if (reach === 'tree') {
    for (const pid of descendantsOf([keeper], table)) send(pid, name)
    return
  }
  // What the keeper adopted was born after its command.
  const command = oldest([...table.values()].filter(({ parent, ended }) => parent === keeper && !ended))
  if (command !== undefined) send(command, name)
}

async function killEntered(outer: number): Promise<void> {
  const keeper = keeperOf(outer, readProcessTable())
  if (keeper === undefined) return
  // While the keeper stands still it cannot leave, and whatever loses its parent stays below it.
  send(keeper, 'SIGSTOP')
  await killMembers((table) => descendantsOf([keeper], table))
  send(keeper, 'SIGKILL')
}
