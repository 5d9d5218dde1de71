import { lstatSync } from 'node:fs'
import { VitrineError } from '@vitrine/protocol'
import { chownTree } from '../chown-folders.ts'
import { sandboxUser } from './accounts.ts'
import { bubblewrapArguments } from './layout.ts'
import {
  type BuildOptions,
  type BuildPlan,
  buildFds,
  layoutOf,
  machineMounts,
  type Tools,
  writeAccounts,
} from './plan.ts'
import { stage } from './stage.ts'
import { systemEntries } from './system.ts'
import { writableSystem } from './writable-system.ts'

export interface RootPlan {
  /** The first of the sandbox's 65,536 user ids. */
  readonly uids: number
  /** Whether the workspace's file system supports idmapped mounts. */
  readonly mapsOwners: boolean
}

/** The plan for a root host: private user ids and, on request, a writable system. */
export async function planForRoot(
  { program, bubblewrap }: Tools,
  options: BuildOptions,
  { uids, mapsOwners }: RootPlan,
): Promise<BuildPlan> {
  const accounts = writeAccounts(options)
  const disk = unifyOwner(options)
  if (!mapsOwners) for (const folder of [options.root, options.home]) chownTree(folder, mapped(uids))
  const own = mapsOwners ? 'own' : 'bind'
  const machineArgs = [
    ...[`uids=${uids}`, `owner=${sandboxUser.uid}`, `disk=${disk.uid}:${disk.gid}`, `go=${buildFds.go}`],
    ...[`bind=program:${program}`, `${own}=workspace:${options.root}`, `${own}=home:${options.home}`],
    ...options.binds.map(({ source }, index) => `bind=bind${index}:${source}`),
  ]
  const sources = {
    program: stage('program'),
    workspace: stage('workspace'),
    home: stage('home'),
    binds: options.binds.map((bind, index) => ({ ...bind, source: stage(`bind${index}`) })),
  }
  if (options.rootfs === 'writable') {
    const copies = await writableSystem(options, accounts, systemEntries(), uids)
    const mounts = [...copies.mounts, ...machineMounts(options, sources)]
    const args = bubblewrapArguments(layoutOf(options, copies.system, mounts))
    return {
      file: program,
      args: ['build', ...machineArgs, ...copies.machineArgs, '--', bubblewrap, ...args],
    }
  }
  machineArgs.push(`bind=passwd:${accounts.passwd}`, `bind=group:${accounts.group}`)
  const staged = { passwd: stage('passwd'), group: stage('group') }
  const mounts = machineMounts(options, { ...sources, accounts: staged })
  const args = bubblewrapArguments(layoutOf(options, systemEntries(), mounts))
  return { file: program, args: ['build', ...machineArgs, '--', bubblewrap, ...args] }
}

interface Owner {
  readonly uid: number
  readonly gid: number
}

/** The owner on disk of the folders that Vitrine creates. No other account has this id, just below the private ids. */
const vitrineOwner: Owner = { uid: 2 ** 30 - 1, gid: 2 ** 30 - 1 }

/** Makes sure that one user owns the workspace and HOME on disk, and returns that user. */
function unifyOwner({ root, home, homeGiven, managed }: BuildOptions): Owner {
  const { uid, gid } = lstatSync(root)
  if (managed && uid === 0) chownTree(root, vitrineOwner)
  const owner = managed && uid === 0 ? vitrineOwner : { uid, gid }
  const { uid: homeOwner } = lstatSync(home)
  if (homeOwner === owner.uid) return owner
  if (homeGiven)
    throw new VitrineError(
      'argument_invalid',
      `home: ${home} belongs to user ${homeOwner} and the workspace to user ${owner.uid}; both must have the same owner.`,
    )
  chownTree(home, owner)
  return owner
}

function mapped(uids: number): Owner {
  return { uid: uids + sandboxUser.uid, gid: uids + sandboxUser.gid }
}
