import { describe } from 'vitest'
import type { MakeSandbox } from '../kit.ts'
import { burstCases } from './bursts.ts'
import { changeCases } from './change-cases.ts'
import { imageCases } from './images.ts'
import { watchRegressionCases } from './regressions.ts'
import { viewerCases } from './viewers.ts'

/** The parts of the kit, in the order in which they run. */
const groups = {
  changes: changeCases,
  bursts: burstCases,
  images: imageCases,
  viewers: viewerCases,
  regressions: watchRegressionCases,
} satisfies Record<string, (make: MakeSandbox, sizes: Sizes) => void>

/** A part of the kit, by name. */
type WatcherGroup = keyof typeof groups

/** How many files the large cases make. */
export interface Sizes {
  /** While the host is busy: the kernel keeps 16,384 events for a watcher which does not read them. */
  readonly storm: number
  /** In each of the other large cases, a multiple of 500. */
  readonly burst: number
}

export interface WatcherKitOptions {
  /** Which parts of the kit; all by default. */
  readonly groups?: readonly WatcherGroup[]
  /** How many files are made while the host is busy, and in other bursts; by default 30,000 and 5,000. */
  readonly sizes?: Sizes
}

/**
 * What every watcher of a workspace must see, as tests: the part of `sandboxConformance` that is about changes of
 * files, for other watchers of the same sandboxes.
 *
 * @example
 * watcherConformance('polling', (wish) => makeSandbox({ ...wish, polls: true }), { sizes: { storm: 3_000, burst: 500 } })
 */
export function watcherConformance(
  name: string,
  make: MakeSandbox,
  // The keys of a record that is typed by its keys.
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
