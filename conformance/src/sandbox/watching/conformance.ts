import { describe } from 'vitest'
import type { MakeSandbox } from '../setting.ts'
import { watchingCases } from './cases.ts'

/**
 * What every watcher of a workspace must see, as tests: the part of `sandboxConformance` that is about changes of
 * files, for other watchers of the same sandboxes.
 *
 * @example
 * watcherConformance('polling', (wish) => makeSandbox({ ...wish, polls: true }))
 */
export function watcherConformance(name: string, make: MakeSandbox): void {
  describe(`watcher conformance: ${name}`, () => {
    watchingCases(make)
  })
}
