import { type Capabilities, VitrineError } from '@vitrine/protocol'
import type { Settings } from '../engine/settings.ts'
import type { Plan } from './read-manifest.ts'
import { type Exec, runCommand } from './run-command.ts'
import type { Step } from './run-steps.ts'

type Accounts = Pick<Plan, 'users' | 'groups'>

export function hasAccounts({ users, groups }: Accounts): boolean {
  return users.length + groups.length > 0
}

/** As far as it can be told before there is a machine. */
export function mustTakeAccounts(plan: Accounts, { isolation, rootfs }: Settings): void {
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

/** Made by the sandbox's root with its own programs. What is there already stays. */
export function accountSteps({ users, groups }: Accounts, exec: Exec): Step[] {
  const asRoot = (argv: readonly string[], signal: AbortSignal) =>
    runCommand(exec, argv, { user: 'root', cwd: '/tmp', signal })
  return [
    ...groups.map((name) => ({
      where: 'workspace.groups',
      name: `group ${name}`,
      run: async (signal: AbortSignal) => (await asRoot(['groupadd', '--force', name], signal)).exitCode ?? 0,
    })),
    ...users.map(({ name, groups: more }) => ({
      where: 'workspace.users',
      name: `user ${name}`,
      run: async (signal: AbortSignal) => {
        const known = await exec(['id', '-u', name], { user: 'root', cwd: '/tmp', signal })
        const list = more.length === 0 ? [] : ['--groups', more.join(',')]
        if (known.outcome !== 'ok')
          await asRoot(['useradd', '--create-home', '--shell', '/bin/sh', ...list, name], signal)
        else if (more.length > 0) await asRoot(['usermod', '--append', ...list, name], signal)
        return undefined
      },
    })),
  ]
}
