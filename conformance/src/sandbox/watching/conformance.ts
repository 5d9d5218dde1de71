import { describe } from 'vitest'
import type { MakeSandbox } from '../setting.ts'
import { burstCases } from './bursts.ts'
import { imageCases } from './images.ts'
import { watchRegressionCases } from './regressions.ts'
import { changeCases } from './telling.ts'
import { viewerCases } from './viewers.ts'

/** The parts of the kit, in the order in which they run. */
const groups = {
  changes: changeCases,
  bursts: burstCases,
  images: imageCases,
  viewers: viewerCases,
  regressions: watchRegressionCases,
} satisfies Record<string, (make: MakeSandbox, storm: number) => void>

/** A part of the kit, by name. */
type WatcherGroup = keyof typeof groups

export interface WatcherKitOptions {
  /** Which parts of the kit; all by default. */
  readonly groups?: readonly WatcherGroup[]
  /**
   * How many files the largest burst makes, a multiple of 3,000; the others make a part of that. By default 30,000:
   * more events than the 16,384 that the kernel keeps for a watcher which does not read them.
   */
  readonly storm?: number
}

/**
 * What every watcher of a workspace must see, as tests: the part of `sandboxConformance` that is about changes of
 * files, for other watchers of the same sandboxes.
 *
 * @example
 * watcherConformance('polling', (wish) => makeSandbox({ ...wish, polls: true }), { storm: 3_000 })
 */
export function watcherConformance(
  name: string,
  make: MakeSandbox,
  // The keys of a record that is typed by its keys.
  { groups: chosen = Object.keys(groups) as WatcherGroup[], storm = 30_000 }: WatcherKitOptions = {},
): void {
  describe(`watcher conformance: ${name}`, () => {
    describe('watching', () => {
      for (const group of chosen) groups[group](make, storm)
    })
  })
}
