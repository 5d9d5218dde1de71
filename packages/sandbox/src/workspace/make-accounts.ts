import { type Capabilities, VitrineError } from '@vitrine/protocol'
import type { SandboxSettings } from '../engine/settings.ts'
import { CommandFailure } from './command-failure.ts'
import type { Plan } from './read-manifest.ts'
import { type Exec, runCommand } from './run-command.ts'
import type { Step } from './run-steps.ts'

type Accounts = Pick<Plan, 'users' | 'groups'>

export function hasAccounts({ users, groups }: Accounts): boolean {
  return users.length + groups.length > 0
}

/** As far as it can be told before there is a machine. */
export function mustTakeAccounts(plan: Accounts, { isolation, rootfs }: SandboxSettings): void {
  if (!hasAccounts(plan)) return
  if (isolation === 'none') throw notHere
  if (rootfs !== 'writable')
    throw unsupported("they take a system of the sandbox's own: set `rootfs: 'writable'`.")
}

export function mustHaveAccounts(plan: Accounts, { isolation, users }: Capabilities): void {
  if (!hasAccounts(plan)) return
  if (isolation === 'none') throw notHere
  if (!users)
    throw unsupported(
      "this sandbox has no system of its own; `rootfs: 'writable'` needs a host that is root.",
    )
}

const notHere = unsupported('without isolation they would be users and groups of this machine itself.')

function unsupported(reason: string): VitrineError {
  return new VitrineError('unsupported', `workspace.users and workspace.groups: ${reason}`)
}

/** What `useradd` says of a name that is there already. */
const nameTaken = 9

/** Made by the sandbox's root with its own programs. What is there already stays. */
export function accountSteps({ users, groups }: Accounts, exec: Exec): Step[] {
  return [
    ...groups.map((name) => ({
      where: 'workspace.groups',
      name: `group ${name}`,
      run: (signal: AbortSignal) => makeGroup(exec, name, signal),
    })),
    ...users.map((user) => ({
      where: 'workspace.users',
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
  { name, groups }: Plan['users'][number],
  groupIsThere: boolean,
  signal: AbortSignal,
): Promise<undefined> {
  const own = groupIsThere ? ['--gid', name] : ['--user-group']
  const more = groups.length === 0 ? [] : ['--groups', groups.join(',')]
  const command = ['useradd', '--create-home', '--shell', '/bin/sh', ...own, ...more, name]
  try {
    await runCommand(exec, command, asRoot(signal))
  } catch (error) {
    if (!(error instanceof CommandFailure) || error.result.exitCode !== nameTaken) throw error
    // A group of that name is refused with the same number.
    const known = await exec(['id', '-u', name], asRoot(signal))
    if (known.outcome !== 'ok') throw error
    if (groups.length > 0) await runCommand(exec, ['usermod', '--append', ...more, name], asRoot(signal))
  }
}

function asRoot(signal: AbortSignal) {
  return { user: 'root', cwd: '/tmp', signal }
}
