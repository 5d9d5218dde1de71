import { describe } from 'vitest'
import type { MakeSandbox } from '../kit.ts'
import { burstCases } from './bursts.ts'
import { changeCases } from './change-cases.ts'
import { imageCases } from './images.ts'
import { watchRegressionCases } from './regressions.ts'
import { viewerCases } from './viewers.ts'

/** The groups of the kit, in the order in which they run. */
const groups = {
  changes: changeCases,
  bursts: burstCases,
  images: imageCases,
  viewers: viewerCases,
  regressions: watchRegressionCases,
} satisfies Record<string, (make: MakeSandbox, sizes: Sizes) => void>

/** The name of a group of the kit. */
type WatcherGroup = keyof typeof groups

/** The number of files that the large cases create. */
export interface Sizes {
  /** Files created while the host is busy. The kernel queues 16,384 events for a watcher that does not read them. */
  readonly storm: number
  /** Files created in each of the other large cases; a multiple of 500. */
  readonly burst: number
}

export interface WatcherKitOptions {
  /** The groups to run; all by default. */
  readonly groups?: readonly WatcherGroup[]
  /** The default is 30,000 files while the host is busy, and 5,000 in other bursts. */
  readonly sizes?: Sizes
}

/**
 * Registers the tests that every watcher of a workspace must pass. They are separate from `sandboxConformance`, so that
 * each watcher of the same sandbox can run them.
 *
 * @example
 * watcherConformance('polling', (options) => makeSandbox({ ...options, polls: true }), { sizes: { storm: 3_000, burst: 500 } })
 */
export function watcherConformance(
  name: string,
  make: MakeSandbox,
  // The cast is safe: these are the keys of `groups`.
  {
    groups: chosen = Object.keys(groups) as WatcherGroup[],
    sizes = { storm: 30_000, burst: 5_000 },
  }: WatcherKitOptions = {},
): void {
  describe(`watcher conformance: ${name}`, () => {
    describe('watching', () => {
      for (const group of chosen) groups[group](make, sizes)
    })
  })
}
