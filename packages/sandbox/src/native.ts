import { accessSync, constants } from 'node:fs'
import { fileURLToPath } from 'node:url'

const prebuilt: ReadonlySet<string> = new Set(['linux-x64', 'linux-arm64'])

/** The path of `vitrine-machine` for this platform; undefined where there is no executable build of it. */
export function machineProgram(): string | undefined {
  const platform = `${process.platform}-${process.arch}`
  if (!prebuilt.has(platform)) return undefined
  const path = fileURLToPath(new URL(`../native/vitrine-machine-${platform}`, import.meta.url))
  try {
    accessSync(path, constants.X_OK)
    return path
  } catch {
    return undefined
  }
}
