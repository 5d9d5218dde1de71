import fc from 'fast-check'
import type { CrashPoint } from '../../drivers/crashing-driver.ts'

/** One step of a random history. */
export type ModelStep =
  | {
      readonly do: 'append'
      readonly journal: number
      readonly events: number
      readonly output: boolean
      readonly wait: boolean
    }
  | { readonly do: 'work'; readonly journal: number }
  | {
      readonly do: 'connect'
      readonly journal: number
      readonly from: 'start' | 'now'
      readonly yields: boolean
    }
  | { readonly do: 'disconnect'; readonly reader: number }
  | { readonly do: 'reconnect'; readonly reader: number }
  | { readonly do: 'watch'; readonly journal: number }
  | { readonly do: 'page'; readonly limit: number }
  | { readonly do: 'trim'; readonly journal: number; readonly keep: number; readonly wait: boolean }
  | { readonly do: 'takeover' }
  | { readonly do: 'crash'; readonly when: CrashPoint }
  | { readonly do: 'reopen' }

export interface History {
  /** Events cached in memory for live readers: few, so that both the cache and the store are read. */
  readonly recent: number
  readonly steps: readonly ModelStep[]
}

const journal = fc.constantFrom(0, 0, 1, 2)
const reader = fc.nat({ max: 5 })

const step: fc.Arbitrary<ModelStep> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('append' as const),
      journal,
      events: fc.integer({ min: 1, max: 30 }),
      output: fc.boolean(),
      wait: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('work' as const), journal }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('connect' as const),
      journal,
      from: fc.constantFrom('start' as const, 'now' as const),
      yields: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('disconnect' as const), reader }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('reconnect' as const), reader }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('watch' as const), journal }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('page' as const), limit: fc.integer({ min: 1, max: 20 }) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('trim' as const),
      journal,
      keep: fc.integer({ min: 1, max: 20 }),
      wait: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'takeover' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('crash' as const),
      when: fc.constantFrom<CrashPoint>('now', 'before the next commit', 'after the next commit'),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'reopen' as const }) },
)

export const history: fc.Arbitrary<History> = fc.record({
  recent: fc.constantFrom(0, 3, 2_048),
  steps: fc.array(step, { minLength: 1, maxLength: 100, size: 'max' }),
})
