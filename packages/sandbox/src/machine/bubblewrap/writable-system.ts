import { chmodSync, chownSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { shadowFile } from './accounts.ts'
import { copyPublic } from './copy-public.ts'
import type { Mount, SystemEntry } from './layout.ts'
import { stage } from './stage.ts'
import { hostFile, privateFiles } from './system.ts'

/** The databases of package managers outside the system folders. */
const packageDatabases = ['/var/lib/dpkg', '/var/lib/apt', '/var/cache/debconf', '/var/lib/rpm'] as const
const emptyFolders = [
  'tmp',
  'lib',
  'cache',
  'log',
  'spool',
  'mail',
  'lib/dpkg',
  'lib/apt',
  'cache/debconf',
  'lib/rpm',
]
const shadowGroup = 42

export interface WritableSystem {
  /** The arguments of `vitrine-machine build`. */
  readonly machineArgs: readonly string[]
  readonly system: readonly SystemEntry[]
  readonly mounts: readonly Mount[]
}

/** Prepares writable overlays of the system folders. Their changes are discarded at each start. */
export async function writableSystem(
  { state, system: changes }: { readonly state: string; readonly system: string },
  accounts: { readonly passwd: string; readonly group: string },
  system: readonly SystemEntry[],
  uids: number,
): Promise<WritableSystem> {
  rmSync(changes, { recursive: true, force: true })
  const machineArgs: string[] = []
  const copy = (path: string) => {
    const name = stagedName(path)
    const folder = join(changes, name)
    for (const part of ['upper', 'work']) makeFolder(join(folder, part), uids)
    machineArgs.push(`overlay=${name}:${path}:${folder}`)
    return stage(name)
  }
  // A copy, not an overlay: keys and passwords that the host writes there later would show through an overlay.
  const etc = join(changes, 'etc')
  copyPublic('/etc', etc, uids)
  machineArgs.push(`bind=etc:${etc}`)
  const copied = system.map((entry) => {
    if (entry.link !== undefined) return entry
    return { ...entry, copy: entry.path === '/etc' ? stage('etc') : copy(entry.path) }
  })
  writeOwned(join(etc, 'passwd'), hostFile(accounts.passwd), uids, 0o644)
  writeOwned(join(etc, 'group'), hostFile(accounts.group), uids, 0o644)
  for (const name of ['shadow', 'gshadow']) {
    writeOwned(join(etc, name), name === 'shadow' ? shadowFile(hostFile(accounts.passwd)) : '', uids, 0o640)
    chownSync(join(etc, name), uids, uids + shadowGroup)
  }
  const varFolder = join(changes, 'var')
  for (const folder of ['', ...emptyFolders]) makeFolder(join(varFolder, folder), uids)
  chmodSync(join(varFolder, 'tmp'), 0o1777)
  machineArgs.push(`bind=var:${varFolder}`)
  const mounts: Mount[] = [{ source: stage('var'), target: '/var', writable: true }]
  for (const path of packageDatabases.filter((one) => hostFolder(one)))
    mounts.push({ source: copy(path), target: path, writable: true })
  const hidden = join(state, 'hidden')
  const present = packageDatabases.filter((one) => hostFolder(one))
  const secrets: string[] = []
  for (const folder of ['/opt', '/usr/local', ...present])
    for (const path of await privateFiles(folder)) secrets.push(path.replace(folder, stagedPath(folder)))
  writeFileSync(hidden, secrets.map((path) => `${path}\0`).join(''), { mode: 0o600 })
  machineArgs.push(`hide=${hidden}`)
  return { machineArgs, system: copied, mounts }
}

/** The path on the stage: a package database has its own entry, other folders are below their system folder's. */
function stagedPath(folder: string): string {
  return packageDatabases.some((record) => record === folder) ? stagedName(folder) : folder.slice(1)
}

function stagedName(path: string): string {
  return path.slice(1).replaceAll('/', '-')
}

function hostFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

function makeFolder(path: string, owner: number): void {
  mkdirSync(path, { recursive: true })
  chmodSync(path, 0o755)
  chownSync(path, owner, owner)
}

function writeOwned(path: string, content: string, owner: number, mode: number): void {
  writeFileSync(path, content)
  chmodSync(path, mode)
  chownSync(path, owner, owner)
}
