import { settledWithin } from '@vitrine/protocol/primitives'
import { checkWorkingDirectory, findProgram } from './find-program.ts'
import { killMembers, send } from './kill-tree.ts'
import type { Launch, Launched } from './machine.ts'
import { startWithPipes } from './pipes.ts'
import { carriesMarker, descendantsOf, type ProcessRow, readProcessTable } from './process-table.ts'

/** Starts a program with Node's `spawn`, where there is no `vitrine-machine`. `marker` is a variable unique to it. */
export async function launchUnsupervised(
  launch: Launch,
  marker: string,
  ids: { readonly uid: number; readonly gid: number } | undefined,
): Promise<Launched> {
  const { argv, cwd, env } = launch
  const [file = '', ...args] = argv
  const started = await startWithPipes({ file, args, cwd, env, ids }, launch).catch((error: unknown) => {
    // ENOENT means a missing folder or a missing program: check both to report the right one.
    checkWorkingDirectory(launch)
    findProgram(launch)
    throw error
  })
  const { pid, pipes, ended } = started
  const members = (table: ReadonlyMap<number, ProcessRow>) => treeOf(pid, marker, table)
  const signalTree = (name: NodeJS.Signals) => {
    for (const member of members(readProcessTable())) send(member, name)
  }
  return {
    pid,
    top: pid,
    startedAt: -1,
    pipes,
    ended,
    signal: (name, scope) => {
      if (scope === 'program') send(pid, name)
      else signalTree(name)
    },
    killTree: () => killMembers(members),
    stopTree: async (graceMs) => {
      signalTree('SIGTERM')
      await settledWithin(ended, graceMs)
      await killMembers(members)
    },
  }
}

/** The known processes of a command: its descendants, and all processes that carry its marker. */
function treeOf(pid: number, marker: string, table: ReadonlyMap<number, ProcessRow>): Set<number> {
  const roots = [...table.keys()].filter((one) => one === pid || carriesMarker(one, marker))
  return new Set([...roots, ...descendantsOf(roots, table)])
}
