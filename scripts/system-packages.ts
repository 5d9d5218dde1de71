import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
import { openTemporaryFolder } from './temporary-folder.ts'

/** Programs that the tests run, and the Debian packages that contain them and their dependencies. */
const needed: Readonly<Record<string, string>> = {
  busybox: 'busybox',
  bwrap: 'bubblewrap',
  chromium: 'chromium',
  curl: 'curl',
  gcc: 'gcc libc6-dev',
  getcap: 'libcap2-bin',
  git: 'git',
  ip: 'iproute2',
  make: 'make',
  mksh: 'mksh',
  nginx: 'nginx-light',
  ps: 'procps',
  python3: 'python3',
  zsh: 'zsh',
}

/** Installs the missing programs as root, and opens /tmp; otherwise prints the command to run. Runs once before all tests. */
export default function installSystemPackages(): void {
  openTemporaryFolder()
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
  // The package lists may never have been downloaded on this machine.
  run(['update'])
  if (run(command.slice(1)).status !== 0) throw new Error(`Installing failed. Run: ${command.join(' ')}`)
}

function isInstalled(program: string): boolean {
  // Debian has servers in /usr/sbin, which is not on the PATH of ordinary users.
  return `${process.env.PATH ?? ''}:/usr/sbin`.split(':').some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
