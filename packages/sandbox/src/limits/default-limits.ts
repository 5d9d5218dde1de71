import { readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import type { MachineLimits } from '@vitrine/protocol'
import { leastPidsMax } from '../cgroups/pids-max.ts'

const defaultPids = 4_096
/** A container of few processes gives more than a quarter of them: fewer are not enough for a build. */
const fewPids = 256
const least = 1024 ** 3

/** The resources of a host from which the default limits are derived. */
export interface HostResources {
  readonly memoryBytes: number
  /** The largest number of processes and threads; undefined if it is not known. */
  readonly pids?: number
}

/** The limits of a sandbox by which it cannot use up the host: those that are given, and defaults for the others. */
export function withDefaultLimits(given: MachineLimits, host: HostResources): MachineLimits {
  const half = Math.floor(host.memoryBytes / 2)
  const {
    memoryBytes = Math.max(half, Math.min(host.memoryBytes, least)),
    pids = pidsOf(host.pids ?? Number.POSITIVE_INFINITY),
  } = given
  const { tmpBytes = Math.floor((memoryBytes || host.memoryBytes) / 4) } = given
  return { ...given, memoryBytes, pids, tmpBytes }
}

function pidsOf(host: number): number {
  return Math.min(defaultPids, Math.max(Math.floor(host / 4), Math.min(fewPids, Math.ceil(host / 2))))
}

/** The resources of this host. A host in a container has what its container may use. */
export function hostResources(): HostResources {
  const constrained = process.constrainedMemory()
  const total = totalmem()
  const pids = leastOf(kernelPids(), leastPidsMax())
  return {
    memoryBytes: constrained > 0 ? Math.min(constrained, total) : total,
    ...(pids !== undefined && { pids }),
  }
}

function leastOf(...numbers: readonly (number | undefined)[]): number | undefined {
  const known = numbers.filter((number) => number !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

function kernelPids(): number | undefined {
  try {
    const value = Number(readFileSync('/proc/sys/kernel/pid_max', 'utf8'))
    return Number.isInteger(value) && value > 0 ? value : undefined
  } catch {
    return undefined
  }
}
