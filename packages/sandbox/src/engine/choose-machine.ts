import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
import { toVitrineError, VitrineError } from '@vitrine/protocol'
import { findCgroups } from '../cgroups/access.ts'
import { bubblewrapMachine } from '../machine/bubblewrap/machine.ts'
import type { Tools } from '../machine/bubblewrap/plan.ts'
import type { Degradation, Machine } from '../machine/machine.ts'
import { ownerTagOf } from '../machine/orphans.ts'
import { plainMachine } from '../machine/plain.ts'
import { machineProgram } from '../native.ts'
import type { SandboxSettings } from './settings.ts'

/** Builds the requested machine; `auto` falls back to plain processes and reports why in `degraded`. */
export async function chooseMachine(
  id: string,
  settings: SandboxSettings,
): Promise<{ readonly machine: Machine; readonly degraded: readonly Degradation[] }> {
  const { isolation, folders, env, network, rootfs, egress, machineLimits: limits, binds, user } = settings
  const common = {
    ownerTag: ownerTagOf(id, folders.data),
    root: folders.root,
    home: folders.home,
    env,
    limits,
    cgroups: await findCgroups(),
  }
  const withoutIsolation = async (reason: readonly Degradation[]) => {
    const machine = await plainMachine({ ...common, ...(user !== undefined && { runAs: { user, folders } }) })
    const notEnforced = [
      ...(network === 'none'
        ? [{ feature: 'network', reason: 'Without isolation, commands can use the network.' }]
        : []),
      ...(egress.length > 0
        ? [{ feature: 'egress', reason: 'Without isolation, the allow-list is not enforced.' }]
        : []),
      ...(rootfs === 'writable'
        ? [{ feature: 'rootfs', reason: 'Without isolation, commands use the system of the host.' }]
        : []),
      ...(limits.tmpBytes && !limits.defaults.includes('tmpBytes')
        ? [{ feature: 'limits.tmpBytes', reason: "Without isolation, commands use the host's /tmp." }]
        : []),
      ...(binds.length > 0 ? [{ feature: 'binds', reason: 'Without isolation, nothing is mounted.' }] : []),
    ]
    return { machine, degraded: [...reason, ...machine.degraded, ...notEnforced] }
  }
  if (isolation === 'none') return withoutIsolation([])
  try {
    const machine = await bubblewrapMachine({
      ...common,
      state: folders.state,
      system: folders.system,
      managed: folders.managed,
      homeGiven: folders.homeGiven,
      network,
      rootfs,
      binds,
      tools: findTools(),
    })
    return { machine, degraded: machine.degraded }
  } catch (error) {
    if (isolation === 'bubblewrap') throw error
    const { code, message, hint } = toVitrineError(error)
    if (code === 'argument_invalid') throw error
    return withoutIsolation([{ feature: 'bubblewrap', reason: `${message} ${hint}` }])
  }
}

function findTools(): Tools {
  const program = machineProgram()
  if (program === undefined) {
    const platform = `${process.platform}-${process.arch}`
    throw new VitrineError(
      'isolation_unavailable',
      `Isolation is not available on ${platform}; it needs Linux on x64 or arm64.`,
    )
  }
  const bubblewrap = (process.env.PATH ?? '')
    .split(':')
    .map((folder) => join(folder, 'bwrap'))
    .find(isExecutable)
  if (bubblewrap === undefined) {
    throw new VitrineError(
      'isolation_unavailable',
      'The program bwrap is not installed: apt-get install bubblewrap, dnf install bubblewrap, apk add bubblewrap.',
    )
  }
  return { program, bubblewrap }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
