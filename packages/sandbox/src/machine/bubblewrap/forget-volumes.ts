import { mountPointsBelow } from '../../disk/mount-points.ts'
import type { BuildPlan } from './plan.ts'

const forget = 'while [ "$1" != -- ]; do umount -l "$1"; shift; done; shift; exec "$@"'

/**
 * The process that builds a machine has a copy of the host's mounts for as long as the machine runs. Without those of the
 * other sandboxes' volumes in it, a volume is freed when its own sandbox stops.
 */
export function withoutOtherVolumes(plan: BuildPlan, root: string): BuildPlan {
  const others = otherVolumes(mountPointsBelow(''), root)
  if (others.length === 0) return plan
  const shell = ['sh', '-c', forget, 'sh', ...others, '--', plan.file, ...plan.args]
  return { file: 'unshare', args: ['--mount', '--propagation', 'private', ...shell] }
}

export function otherVolumes(mountPoints: readonly string[], root: string): string[] {
  return mountPoints.filter((path) => /\/sandboxes\/[^/]+\/disk$/.test(path) && !root.startsWith(`${path}/`))
}
