import { type Capabilities, VitrineError } from '@vitrine/protocol'
import type { SandboxSettings } from '../engine/settings.ts'
import { CommandFailure } from './command-failure.ts'
import type { WorkspacePlan } from './read-manifest.ts'
import { type Exec, runCommand } from './run-command.ts'
import type { PreparationStep } from './run-steps.ts'

type Accounts = Pick<WorkspacePlan, 'users' | 'groups'>

export function hasAccounts({ users, groups }: Accounts): boolean {
  return users.length + groups.length > 0
}

/** Checks the settings before the machine starts. */
export function checkAccountSettings(plan: Accounts, { isolation, rootfs }: SandboxSettings): void {
  if (!hasAccounts(plan)) return
  if (isolation === 'none') throw withoutIsolation
  if (rootfs !== 'writable')
    throw unsupported("they need a root file system of the sandbox's own: set `rootfs: 'writable'`.")
}

export function checkAccountCapabilities(plan: Accounts, { isolation, users }: Capabilities): void {
  if (!hasAccounts(plan)) return
  if (isolation === 'none') throw withoutIsolation
  if (!users)
    throw unsupported(
      "this sandbox has no root file system of its own; `rootfs: 'writable'` needs a host that runs as root.",
    )
}

const withoutIsolation = unsupported('without isolation they would be users and groups of the host.')

function unsupported(reason: string): VitrineError {
  return new VitrineError('unsupported', `workspace.users and workspace.groups: ${reason}`)
}

/** The exit code of `useradd` for a name that already exists. */
const nameTaken = 9

/** Creates accounts as root of the sandbox, with the sandbox's own programs. Existing users only get missing groups. */
export function accountSteps({ users, groups }: Accounts, exec: Exec): PreparationStep[] {
  return [
    ...groups.map((name) => ({
      field: 'workspace.groups',
      name: `group ${name}`,
      run: (signal: AbortSignal) => makeGroup(exec, name, signal),
    })),
    ...users.map((user) => ({
      field: 'workspace.users',
      name: `user ${user.name}`,
      run: (signal: AbortSignal) => makeUser(exec, user, groups.includes(user.name), signal),
    })),
  ]
}

async function makeGroup(exec: Exec, name: string, signal: AbortSignal): Promise<undefined> {
  await runCommand(exec, ['groupadd', '--force', name], asRoot(signal))
}

async function makeUser(
  exec: Exec,
  { name, groups }: WorkspacePlan['users'][number],
  groupExists: boolean,
  signal: AbortSignal,
): Promise<undefined> {
  const own = groupExists ? ['--gid', name] : ['--user-group']
  const more = groups.length === 0 ? [] : ['--groups', groups.join(',')]
  const command = ['useradd', '--create-home', '--shell', '/bin/sh', ...own, ...more, name]
  try {
    await runCommand(exec, command, asRoot(signal))
  } catch (error) {
    if (!(error instanceof CommandFailure) || error.result.exitCode !== nameTaken) throw error
    // `useradd` exits with the same code if only a group of that name exists.
    const known = await exec(['id', '-u', name], asRoot(signal))
    if (known.outcome !== 'ok') throw error
    if (groups.length > 0) await runCommand(exec, ['usermod', '--append', ...more, name], asRoot(signal))
  }
}

function asRoot(signal: AbortSignal) {
  return { user: 'root', cwd: '/tmp', signal }
}
