import { accessSync, constants, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { JudgedCall, JudgedPart, Judgement } from '@vitrine/command-policy'
import type { ExecOptions, SpawnOptions } from '@vitrine/protocol'
import type { Machine } from '../machine/machine.ts'

/** A call as the policy sees it, and the folders in which its programs are searched. */
export interface PolicyCall extends JudgedCall {
  readonly folders: readonly ProgramFolder[]
  /** Whether commands of the sandbox can change a program, given by its path on the host's disk. */
  canChange(program: string): boolean
}

/** A folder of the PATH. */
export interface ProgramFolder {
  /** On the host's disk. */
  readonly path: string
  /** Whether commands of the sandbox can put programs there. */
  readonly isWritable: boolean
}

/** @param given the variables of the sandbox that its creator has set */
export function policyCall(
  machine: Machine,
  given: Readonly<Record<string, string>>,
  { shell, env, secrets, cwd }: SpawnOptions | ExecOptions,
): PolicyCall {
  // A relative folder is one of the working directory.
  const paths = (given.PATH ?? machine.environment.PATH ?? '')
    .split(':')
    .map((folder) => resolve(machine.root, cwd ?? '.', folder))
  const folders = paths.map((path) => ({ path, isWritable: machine.canChange(path) }))
  return {
    shell,
    env: { ...given, ...env, ...secrets },
    programFolders:
      given.PATH === undefined ? folders.filter(({ isWritable }) => !isWritable).map(({ path }) => path) : [],
    folders: folders.map(({ path, isWritable }) => ({
      path: (isWritable ? machine.onDisk(path) : undefined) ?? path,
      isWritable,
    })),
    canChange: (program) => machine.canChange(program),
  }
}

/**
 * Asks about a command whose program commands can change, although it is allowed by its name: if the system has a
 * program of that name, a rule means that one, and if it has none, only a rule that names it accepts it.
 */
export function askAboutReplacedPrograms(judgement: Judgement, call: PolicyCall): Judgement {
  if (judgement.verdict !== 'allow') return judgement
  for (const part of judgement.parts) {
    const [name = ''] = part.argv
    const folder = changeableFolderOf(name, call)
    if (folder === undefined || (isNamed(part) && !isOfSystem(basename(name), call))) continue
    const reason = `"${name}" is found in ${folder}, where commands can write, and not in a system folder.`
    return { ...judgement, verdict: 'ask', reason }
  }
  return judgement
}

/** The folder in which a program is found first, if commands can change the program. */
function changeableFolderOf(name: string, { folders, canChange }: PolicyCall): string | undefined {
  if (name === '' || (name.includes('/') && !name.startsWith('/'))) return undefined
  const path = name.startsWith('/') ? dirname(name) : undefined
  const folder =
    path === undefined
      ? folders.find((candidate) => isProgram(candidate.path, name))
      : folders.find((candidate) => candidate.path === path)
  if (folder === undefined) return undefined
  return folder.isWritable || canChange(realPathOf(join(folder.path, basename(name))))
    ? folder.path
    : undefined
}

/** Whether a rule names the program of a part, rather than every program. */
function isNamed({ rule }: JudgedPart): boolean {
  return rule !== undefined && !/^\*+(\s|$)/.test(rule)
}

function isOfSystem(name: string, { folders }: PolicyCall): boolean {
  return folders.some(({ path, isWritable }) => !isWritable && isProgram(path, name))
}

function isProgram(folder: string, name: string): boolean {
  try {
    accessSync(join(folder, name), constants.X_OK)
    return true
  } catch {
    return false
  }
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
