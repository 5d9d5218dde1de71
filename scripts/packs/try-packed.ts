import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { version } from '@vitrine/protocol'
import { root, runTool } from '../tools.ts'
import { commandWorks } from '../try-command.ts'
import { refusesOlderNode } from '../try-older-node.ts'
import type { PackedPackage } from './pack-packages.ts'

const command = 'node_modules/.bin/vitrine'

/** Whether the packed packages can be installed and used in an empty folder outside the repository. */
export async function worksPacked(packed: readonly PackedPackage[]): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'vitrine-packed-'))
  // A host that runs as root starts commands as another user, who must be able to read the packages.
  chmodSync(folder, 0o755)
  try {
    const entries = packed
      .flatMap(({ manifest }) =>
        Object.keys(manifest.exports ?? {}).map((path) => `${manifest.name}${path.slice(1)}`),
      )
      // Its import runs the command, which is tried by itself.
      .filter((entry) => entry !== '@vitrine/cli/main')
    return (
      install(folder, packed) &&
      importsAll(folder, entries) &&
      compiles(folder, entries) &&
      succeeds(folder, process.execPath, ['consumer.ts'], 'Assistant: the packages work') &&
      succeeds(folder, process.execPath, [command, '--version'], version) &&
      succeeds(folder, process.execPath, [command, '--help'], 'serve') &&
      (await commandWorks(join(folder, command))) &&
      refusesOlderNode(folder)
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function install(folder: string, packed: readonly PackedPackage[]): boolean {
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n')
  const args = ['install', '--prefer-offline', '--no-audit', '--no-fund', ...packed.map(({ path }) => path)]
  return succeeds(folder, 'npm', args)
}

function importsAll(folder: string, entries: readonly string[]): boolean {
  const program = entries.map((entry) => `await import('${entry}')`).join('\n')
  return succeeds(folder, process.execPath, ['--input-type=module', '-e', program])
}

/** Checks the types of every entry too, those of dependencies included. */
function compiles(folder: string, entries: readonly string[]): boolean {
  copyFileSync(join(root, 'scripts/packs/consumer.ts'), join(folder, 'consumer.ts'))
  const types = entries.map((entry, index) => `export type * as entry${index} from '${entry}'\n`)
  writeFileSync(join(folder, 'entries.ts'), types.join(''))
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: 'es2024',
    module: 'nodenext',
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
  return runTool('tsc', ['-p', folder])
}

/** Whether the program exits with 0 and prints the expected text; shows its output if not. */
function succeeds(folder: string, program: string, args: readonly string[], expected = ''): boolean {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd: folder,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  if (status === 0 && stdout.includes(expected)) return true
  console.error(`In an empty folder "${program} ${args.join(' ')}" failed: ${error ?? stdout + stderr}`)
  return false
}
