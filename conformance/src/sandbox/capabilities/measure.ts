import { type Capabilities, isVitrineError } from '@vitrine/protocol'
import type { MakeSandbox, SandboxUnderTest } from '../kit.ts'
import { measureIsolation } from './isolation.ts'
import { measureKillTree } from './kill-tree.ts'
import { measureLimits } from './limits.ts'
import { measureNetwork } from './network.ts'
import { measurePause } from './pause.ts'
import { measureWatching } from './watching.ts'

/** Measured capabilities. Those that need a sandbox with special options are absent without `make`. */
export type Measured = Partial<Capabilities>

/**
 * Measures what a sandbox can do by doing it. Limits and networks are set when a sandbox is created, so measuring them
 * needs `make`.
 *
 * @example
 * const measured = await measureCapabilities(under, makeSandbox)
 * const rows = compareCapabilities(under.sandbox.capabilities, measured)
 */
export async function measureCapabilities(under: SandboxUnderTest, make?: MakeSandbox): Promise<Measured> {
  const { sandbox } = under
  const [commands, files] = [await measureCommands(under), await measureFiles(under)]
  if (!commands) return { ...withoutCommands, commands, files }
  // These mostly wait, each in a sandbox of its own.
  const [killTree, network, limits] = await Promise.all([
    measureKillTree(under),
    make && measureNetwork(make, sandbox.capabilities.network),
    make && measureLimits(make, sandbox.capabilities.limits),
  ])
  return {
    commands,
    files,
    isolation: await measureIsolation(sandbox),
    killTree,
    ...(network && { network }),
    ...(limits && { limits }),
    terminals: await measureTerminals(under),
    users: await measureUsers(under),
    pause: await measurePause(sandbox),
    watching: await measureWatching(under),
    // A sandbox without the method does not have the capability.
    ...(!('snapshots' in sandbox) && { snapshots: false }),
  }
}

/** Every other capability is measured with commands: without them, none is present. */
const withoutCommands: Measured = {
  isolation: 'none',
  killTree: 'best-effort',
  network: [],
  limits: [],
  terminals: false,
  pause: 'none',
  watching: 'none',
  users: false,
  snapshots: false,
}

async function measureCommands({ sandbox }: SandboxUnderTest): Promise<boolean> {
  return isSupported(async () => (await sandbox.exec('echo run')).stdout === 'run\n')
}

async function measureFiles({ sandbox }: SandboxUnderTest): Promise<boolean> {
  return isSupported(async () => {
    await sandbox.files.write('measured.txt', 'file')
    const { size } = await sandbox.files.stat('measured.txt')
    await sandbox.files.remove('measured.txt')
    return size === 4
  })
}

/** False for a call that the sandbox refuses because it does not have it; another error is a failure. */
async function isSupported(works: () => Promise<boolean>): Promise<boolean> {
  try {
    return await works()
  } catch (error) {
    if (isVitrineError(error) && error.code === 'unsupported') return false
    throw error
  }
}

async function measureTerminals({ sandbox }: SandboxUnderTest): Promise<boolean> {
  try {
    const process = await sandbox.spawn('[ -t 0 ] && stty size', { tty: { cols: 81, rows: 27 } })
    let text = ''
    for await (const { data } of process.view()) text += Buffer.from(data).toString()
    return text.includes('27 81')
  } catch {
    return false
  }
}

async function measureUsers({ sandbox }: SandboxUnderTest): Promise<boolean> {
  const own = (await sandbox.exec('id -u')).stdout
  try {
    const { stdout } = await sandbox.exec('id -u', { user: 'nobody', cwd: '/tmp' })
    return /^\d+\n$/.test(stdout) && stdout !== own
  } catch {
    return false
  }
}
