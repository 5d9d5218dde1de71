import type { MachineLimits } from '@vitrine/protocol'
import type { CgroupVersion } from './mounts.ts'

export type Limit = 'memory' | 'cpu' | 'pids'

export interface LimitWrite {
  readonly limit: Limit
  readonly file: string
  readonly value: string
  /** The write may fail: not every kernel accounts swap. */
  readonly optional?: true
}

const periodMicros = 100_000

/** The writes to the files of a group that set the limits, in order. */
export function limitWrites(
  version: CgroupVersion,
  { memoryBytes, cpus, pids }: MachineLimits,
): LimitWrite[] {
  const writes: LimitWrite[] = []
  if (typeof memoryBytes === 'number') writes.push(...memoryWrites(version, memoryBytes))
  if (cpus !== undefined) {
    const quota = Math.round(cpus * periodMicros)
    writes.push(
      ...(version === 2
        ? [{ limit: 'cpu', file: 'cpu.max', value: `${quota} ${periodMicros}` } as const]
        : [
            { limit: 'cpu', file: 'cpu.cfs_period_us', value: `${periodMicros}` } as const,
            { limit: 'cpu', file: 'cpu.cfs_quota_us', value: `${quota}` } as const,
          ]),
    )
  }
  if (typeof pids === 'number') writes.push({ limit: 'pids', file: 'pids.max', value: `${pids}` })
  return writes
}

function memoryWrites(version: CgroupVersion, bytes: number): LimitWrite[] {
  return version === 2
    ? [
        { limit: 'memory', file: 'memory.max', value: `${bytes}` },
        { limit: 'memory', file: 'memory.swap.max', value: '0', optional: true },
      ]
    : [
        { limit: 'memory', file: 'memory.limit_in_bytes', value: `${bytes}` },
        { limit: 'memory', file: 'memory.memsw.limit_in_bytes', value: `${bytes}`, optional: true },
      ]
}

/** The limits that are set. */
export function limitsOf({ memoryBytes, cpus, pids }: MachineLimits): Limit[] {
  const limits: Limit[] = []
  if (typeof memoryBytes === 'number') limits.push('memory')
  if (cpus !== undefined) limits.push('cpu')
  if (typeof pids === 'number') limits.push('pids')
  return limits
}
