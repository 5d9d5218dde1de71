import { setTimeout as sleep } from 'node:timers/promises'
import { checkWorkingDirectory, findProgram } from './find-program.ts'
import { killMembers, send } from './kill-tree.ts'
import type { Launch, Launched } from './machine.ts'
import { startWithPipes } from './pipes.ts'
import { carriesMarker, descendantsOf, type ProcessRow, readProcessTable } from './process-table.ts'

/** Starts a program by Node's own means, where there is no `vitrine-machine`. `marker` is a variable that only it has. */
export async function launchUnkept(
  launch: Launch,
  marker: string,
  ids: { readonly uid: number; readonly gid: number } | undefined,
): Promise<Launched> {
  const { argv, cwd, env } = launch
  const [file = '', ...args] = argv
  const started = await startWithPipes({ file, args, cwd, env, ids }, launch).catch((error: unknown) => {
    // The kernel's answer does not tell a missing folder from a missing program; looking does.
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
    pipes,
    ended,
    signal: (name, scope) => {
      if (scope === 'program') send(pid, name)
      else signalTree(name)
    },
    killTree: () => killMembers(members),
    stopTree: async (graceMs) => {
      signalTree('SIGTERM')
      await Promise.race([ended, sleep(graceMs, undefined, { ref: false })])
      await killMembers(members)
    },
  }
}

/** What a command started, as far as it can be told: its descendants, and whatever carries its marker. */
function treeOf(pid: number, marker: string, table: ReadonlyMap<number, ProcessRow>): Set<number> {
  const roots = [...table.keys()].filter((one) => one === pid || carriesMarker(one, marker))
  return new Set([...roots, ...descendantsOf(roots, table)])
}
