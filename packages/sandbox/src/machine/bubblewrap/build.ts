import { spawn } from 'node:child_process'
import { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { VitrineError } from '@vitrine/protocol'
import type { Cgroup } from '../../cgroups/cgroup.ts'
import { hostMarker } from '../../orphan-guard.ts'
import { parseFailure } from '../launch-errors.ts'
import type { Degradation } from '../machine.ts'
import { sandboxMarker } from '../orphans.ts'
import { withoutOtherVolumes } from './forget-volumes.ts'
import { missingRights } from './missing-rights.ts'
import { type BuildOptions, type BuildPlan, buildFds, planForUser, type Tools } from './plan.ts'
import { planForRoot } from './plan-for-root.ts'
import { takeUidRange } from './uid-range.ts'

const buildMs = 20_000

/** A machine that was built and runs. */
export interface Built {
  /** The host's pid of its first process. */
  readonly pid: number
  /** The first of its user ids on the host; undefined if it runs as the host's user. */
  readonly uids: number | undefined
  /** The size of its file systems in memory, if it is limited. */
  readonly tmpBytes: number | undefined
  /** The reason why that size cannot be limited. */
  readonly withoutTmpSize: string | undefined
  /** Whether it has a writable system, and so more than one user. */
  readonly changeable: boolean
  readonly degraded: readonly Degradation[]
  /** Settles with the reason when its first process has ended. */
  readonly ended: Promise<string>
  /** Keeps this process alive until the machine has ended. */
  keepProcessAlive(): void
  release(): void
}

type MachineBuildOptions = BuildOptions & { readonly ownerTag: string; readonly tools: Tools }

/** Builds a machine. A `bwrap` that cannot limit the size of a tmpfs builds it without that limit. */
export async function buildMachine(options: MachineBuildOptions, group: Cgroup | undefined): Promise<Built> {
  const build = process.getuid?.() === 0 ? buildAsRoot : buildAsUser
  const { tmpBytes } = options
  try {
    return { ...(await build(options, group)), tmpBytes, withoutTmpSize: undefined }
  } catch (error) {
    if (tmpBytes === undefined || !isUnknownSize(error)) throw error
    const built = await build({ ...options, tmpBytes: undefined }, group)
    return { ...built, tmpBytes: undefined, withoutTmpSize: 'This version of bwrap has no option --size.' }
  }
}

function isUnknownSize(error: unknown): boolean {
  return error instanceof BuildError && /unknown option --size/i.test(error.message)
}

type BuiltParts = Omit<Built, 'tmpBytes' | 'withoutTmpSize'>

async function buildAsUser(options: MachineBuildOptions, group: Cgroup | undefined): Promise<BuiltParts> {
  const readOnly = { ...options, rootfs: 'read-only' } as const
  const {
    pid,
    ended,
    keepProcessAlive: hold,
  } = await runPlan(planForUser(options.tools, readOnly), group, sandboxMarker(options.ownerTag))
  const degraded =
    options.rootfs === 'writable'
      ? [{ feature: 'rootfs', reason: 'Only a host that runs as root can provide a writable system.' }]
      : []
  return {
    pid,
    ended,
    keepProcessAlive: hold,
    degraded,
    uids: undefined,
    changeable: false,
    release: () => undefined,
  }
}

async function buildAsRoot(options: MachineBuildOptions, group: Cgroup | undefined): Promise<BuiltParts> {
  const range = takeUidRange()
  const { first: uids, release } = range
  const degraded: Degradation[] = []
  const attempt = async (wanted: BuildOptions, mapsOwners: boolean): Promise<BuiltParts> => {
    try {
      const planned = await planForRoot(options.tools, wanted, { uids, mapsOwners })
      const plan = withoutOtherVolumes(planned, wanted.root)
      const {
        pid,
        ended,
        keepProcessAlive: hold,
      } = await runPlan(plan, group, sandboxMarker(options.ownerTag))
      return {
        pid,
        ended,
        keepProcessAlive: hold,
        degraded,
        uids,
        changeable: wanted.rootfs === 'writable',
        release,
      }
    } catch (error) {
      if (!(error instanceof BuildError)) throw error
      const { step, what } = error
      if (
        wanted.rootfs === 'writable' &&
        (step === 'overlay' || (step === 'idmap' && what !== 'workspace' && what !== 'home'))
      ) {
        degraded.push({
          feature: 'rootfs',
          reason: `A writable copy of ${what} cannot be created: ${error.message}`,
        })
        return attempt({ ...wanted, rootfs: 'read-only' }, mapsOwners)
      }
      if (step === 'idmap' && mapsOwners) {
        degraded.push({
          feature: 'workspace',
          reason: `Its file system does not support idmapped mounts, so its files now belong to the sandbox's user ${uids + 1_000}.`,
        })
        return attempt(wanted, false)
      }
      throw error
    }
  }
  try {
    return await attempt(options, true)
  } catch (error) {
    release()
    throw error
  }
}

class BuildError extends VitrineError {
  readonly step: string
  readonly what: string

  constructor(message: string, step: string, what: string) {
    super('isolation_unavailable', message)
    this.step = step
    this.what = what
  }
}

/** Runs the plan until the machine's first process reports that it is ready. */
async function runPlan(
  plan: BuildPlan,
  group: Cgroup | undefined,
  marker: Readonly<Record<string, string>>,
): Promise<Pick<Built, 'pid' | 'ended' | 'keepProcessAlive'>> {
  const child = spawn(plan.file, plan.args, {
    env: { ...hostMarker, ...marker },
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe', 'pipe', 'pipe'],
  })
  const failed = new Promise<never>((_, reject) => child.once('error', reject))
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
  })
  const go = child.stdio[buildFds.go]
  const info = child.stdio[buildFds.info]
  const ready = child.stdio[buildFds.ready]
  if (
    !(go instanceof Writable) ||
    !(info instanceof Readable) ||
    !(ready instanceof Readable) ||
    child.stderr === null
  )
    throw new VitrineError('internal', 'A machine was built without its pipes.')
  go.on('error', () => undefined)
  const stderrText = text(child.stderr)
  const infoText = text(info)
  const readyText = text(ready)
  const timer = setTimeout(() => child.kill('SIGKILL'), buildMs)
  try {
    if (child.pid !== undefined) group?.join(child.pid)
    go.end('g')
    // The pipe closes when its process ends, so this resolves even if the process never reports.
    const report = await Promise.race([readyText, failed])
    const description = await Promise.race([infoText, failed])
    if (report !== 'ready\n') throw buildError(await stderrText, await exited)
    const pid = childPid(description)
    child.unref()
    return { pid, ended: exited, keepProcessAlive: () => child.ref() }
  } finally {
    clearTimeout(timer)
  }
}

function buildError(stderr: string, end: string): BuildError {
  const failure = parseFailure(stderr)
  const { step, what } = failure ?? { step: 'bubblewrap', what: '' }
  const reason = `The sandbox could not be built (${end}): ${stderr.trim() || 'no reason was given'}`
  const advice = missingRights(stderr)
  return new BuildError(advice === '' ? reason : `${reason}\n${advice}`, step, what)
}

function childPid(info: string): number {
  const parsed: unknown = JSON.parse(info)
  const pid: unknown =
    typeof parsed === 'object' && parsed !== null ? Reflect.get(parsed, 'child-pid') : undefined
  if (typeof pid !== 'number') throw new VitrineError('internal', `bubblewrap reported no child pid: ${info}`)
  return pid
}
