import { accessSync, constants, statSync } from 'node:fs'
import { constants as os } from 'node:os'
import { join, resolve } from 'node:path'
import { launchError } from './launch-errors.ts'
import type { Launch } from './machine.ts'

/** Finds the file that would run, to distinguish "not found" from "not executable". */
export function findProgram(launch: Launch): string {
  const name = launch.argv[0] ?? ''
  const { ENOENT, EACCES } = os.errno
  let errno = ENOENT
  for (const file of candidates(name, launch)) {
    const kind = inspect(file)
    if (kind === 'executable') return file
    if (kind === 'other') errno = EACCES
  }
  throw launchError('exec', errno, name, launch)
}

export function checkWorkingDirectory(launch: Launch): void {
  let isFolder = false
  try {
    isFolder = statSync(launch.cwd, { throwIfNoEntry: false })?.isDirectory() ?? false
  } catch {
    throw launchError('cwd', os.errno.EACCES, launch.cwd, launch)
  }
  if (!isFolder) throw launchError('cwd', os.errno.ENOENT, launch.cwd, launch)
}

function candidates(name: string, { cwd, env }: Launch): string[] {
  if (name.includes('/')) return [resolve(cwd, name)]
  if (name === '') return []
  return (env.PATH ?? '').split(':').map((folder) => join(resolve(cwd, folder), name))
}

function inspect(file: string): 'executable' | 'other' | 'missing' {
  if (!exists(file)) return 'missing'
  try {
    if (!statSync(file).isFile()) return 'other'
    accessSync(file, constants.X_OK)
    return 'executable'
  } catch {
    return 'other'
  }
}

/** A file in a folder that may not be searched counts as missing, as in shells. */
function exists(file: string): boolean {
  try {
    accessSync(file, constants.F_OK)
    return true
  } catch {
    return false
  }
}
