import { execFileSync, type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { seccompFilter } from '../../src/seccomp/filter.ts'
import type { Arch } from '../../src/seccomp/syscalls.ts'

export type Flavour = 'none' | 'user' | 'root'

export const arch: Arch | undefined =
  process.arch === 'x64' || process.arch === 'arm64' ? process.arch : undefined

/** The reason why these tests cannot run here, if there is one. */
export const missing =
  process.platform !== 'linux' || arch === undefined
    ? 'this is not Linux on x64 or arm64'
    : ['bwrap', 'cc'].find((name) => spawnSync(name, ['--version']).status !== 0)

export function temporaryFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'vitrine-seccomp-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** Runs a program on the host's files with only the filter applied. */
export function confined(
  folder: string,
  flavour: Flavour,
  command: readonly string[],
  input = '',
): SpawnSyncReturns<string> {
  const filter = join(folder, `${flavour}.bpf`)
  writeFileSync(
    filter,
    flavour === 'none' || arch === undefined ? '' : seccompFilter(arch, { root: flavour === 'root' }),
  )
  const fd = openSync(filter, 'r')
  try {
    const seccomp = flavour === 'none' ? [] : ['--seccomp', '3']
    return spawnSync(
      'bwrap',
      [
        ...seccomp,
        '--dev-bind',
        '/',
        '/',
        '--die-with-parent',
        '--new-session',
        '--chdir',
        folder,
        ...command,
      ],
      { stdio: ['pipe', 'pipe', 'pipe', fd], input, encoding: 'utf8', timeout: 60_000 },
    )
  } finally {
    closeSync(fd)
  }
}

export function compileProbe(folder: string): string {
  const target = join(folder, 'probe')
  execFileSync('cc', ['-O1', '-o', target, fileURLToPath(new URL('probe.c', import.meta.url))])
  return target
}
