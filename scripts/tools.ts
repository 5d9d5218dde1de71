import { spawnSync } from 'node:child_process'
import { copyFileSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleCommand } from './bundle.ts'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Runs the command of an installed package on this Node and shows its output. Returns whether it succeeded. */
export function runTool(name: string, args: readonly string[]): boolean {
  const folder = name === 'biome' ? '@biomejs/biome' : name === 'tsc' ? 'typescript' : name
  const { bin } = JSON.parse(readFileSync(join(root, 'node_modules', folder, 'package.json'), 'utf8'))
  const entry = join(root, 'node_modules', folder, typeof bin === 'string' ? bin : bin[name])
  return spawnSync(process.execPath, [entry, ...args], { cwd: root, stdio: 'inherit' }).status === 0
}

/**
 * Emits `dist` and types for every package, in the order of their references. Removes `dist` first: output of deleted
 * files would be packed too. Forces the build, since the compiler does not notice that `dist` was deleted.
 */
export async function build(): Promise<boolean> {
  for (const name of packageFolders()) {
    rmSync(join(root, 'packages', name, 'dist'), { recursive: true, force: true })
    copyFileSync(join(root, 'LICENSE'), join(root, 'packages', name, 'LICENSE'))
  }
  if (!runTool('tsc', ['--build', '--force', ...packageFolders().map((name) => `packages/${name}`)]))
    return false
  await bundleCommand(root)
  return true
}

/** The folders below `packages`. */
export function packageFolders(): string[] {
  return readdirSync(join(root, 'packages'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
}
