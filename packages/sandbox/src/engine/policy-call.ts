import { accessSync, constants } from 'node:fs'
import { join, resolve } from 'node:path'
import type { JudgedCall, Judgement } from '@vitrine/command-policy'
import type { ExecOptions, SpawnOptions } from '@vitrine/protocol'
import type { Machine } from '../machine/machine.ts'

/** A call as the policy sees it, and the folders of its PATH in which commands of the sandbox can write. */
export interface PolicyCall extends JudgedCall {
  /** As paths on the host's disk. */
  readonly writableFolders: readonly string[]
  readonly otherFolders: readonly string[]
}

/** @param given the variables of the sandbox that its creator has set */
export function policyCall(
  machine: Machine,
  given: Readonly<Record<string, string>>,
  { shell, env, secrets, cwd }: SpawnOptions | ExecOptions,
): PolicyCall {
  const isWritable = (folder: string) =>
    machine.cwdRoots.some((root) => `${folder}/`.startsWith(root.endsWith('/') ? root : `${root}/`))
  // A relative folder is one of the working directory.
  const folders = (given.PATH ?? machine.environment.PATH ?? '')
    .split(':')
    .map((folder) => resolve(machine.root, cwd ?? '.', folder))
  const writable = folders.filter(isWritable)
  const others = folders.filter((folder) => !isWritable(folder))
  return {
    shell,
    env: { ...given, ...env, ...secrets },
    programFolders: given.PATH === undefined ? others : [],
    writableFolders: writable.flatMap((folder) => machine.onDisk(folder) ?? []),
    otherFolders: others,
  }
}

/**
 * Asks about a command whose program the sandbox's own PATH finds in a folder that commands can write to, while the
 * system has one of the same name: a rule means that one.
 */
export function askAboutReplacedPrograms(judgement: Judgement, call: PolicyCall): Judgement {
  if (call.writableFolders.length === 0 || judgement.verdict !== 'allow') return judgement
  const names = new Set(judgement.parts.map(({ argv: [program = ''] }) => program))
  for (const name of names) {
    if (name === '' || name.includes('/') || !call.otherFolders.some((folder) => isProgram(folder, name)))
      continue
    const folder = call.writableFolders.find((candidate) => isProgram(candidate, name))
    if (folder === undefined) continue
    const reason = `"${name}" is found in ${folder}, where commands can write, and not in a system folder.`
    return { ...judgement, verdict: 'ask', reason }
  }
  return judgement
}

function isProgram(folder: string, name: string): boolean {
  try {
    accessSync(join(folder, name), constants.X_OK)
    return true
  } catch {
    return false
  }
}
