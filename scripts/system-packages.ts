import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'

/** Programs that tests run for real, and the Debian packages that bring them (and what they need). */
const needed: Readonly<Record<string, string>> = {
  bwrap: 'bubblewrap',
  chromium: 'chromium',
  curl: 'curl',
  gcc: 'gcc libc6-dev',
  getcap: 'libcap2-bin',
  git: 'git',
  ip: 'iproute2',
  ps: 'procps',
  python3: 'python3',
}

/** Installs what is missing, as root; otherwise says the exact command. Runs once before all tests. */
export default function installSystemPackages(): void {
  const missing = Object.entries(needed).filter(([program]) => !isInstalled(program))
  if (missing.length === 0 || process.platform !== 'linux') return
  const command = [
    'apt-get',
    'install',
    '-y',
    '--no-install-recommends',
    ...missing.flatMap(([, names]) => names.split(' ')),
  ]
  if (process.getuid?.() !== 0 || !isInstalled('apt-get')) {
    console.warn(
      `Tests that need ${missing.map(([program]) => program).join(', ')} will fail. Run: sudo ${command.join(' ')}`,
    )
    return
  }
  console.warn(`Installing ${missing.map(([, name]) => name).join(', ')} …`)
  const run = (args: readonly string[]) =>
    spawnSync('apt-get', args, {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    })
  if (run(command.slice(1)).status === 0) return
  // The lists of packages may never have been fetched on this machine.
  run(['update'])
  if (run(command.slice(1)).status !== 0) throw new Error(`Installing failed. Run: ${command.join(' ')}`)
}

function isInstalled(program: string): boolean {
  return (process.env.PATH ?? '').split(':').some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
