import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'

/** Finds a command on PATH. Relative folders of PATH are ignored, because they depend on the working directory. */
export function findCommand(name: string, path: string | undefined): string | undefined {
  if (name.includes('/')) return isAbsolute(name) && isProgram(name) ? name : undefined
  return (path ?? '')
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, name))
    .find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
