import { isGap, type JournalEvent, type Moment } from '@vitrine/protocol'
import { requireWholeNumber } from '@vitrine/protocol/primitives'
import { type CopyOnWrite, copyOnWrite } from '../copy-on-write.ts'
import { gapMayContain } from '../gaps.ts'
import type { Spending } from '../sessions/spending.ts'
import type { View } from '../view.ts'
import { type WideTable, wideEntryOf, wideValuesOf, withoutWideEntry, withWideEntry } from '../wide-table.ts'
import { newSandbox, type SandboxRequest, stoppedSandbox, withSandboxEvent } from './sandbox-events.ts'

/** One sandbox. Without `createdAt` the event of its creation is missing. */
export interface ListedSandbox extends Spending {
  readonly id: string
  readonly state: 'running' | 'paused' | 'stopped' | 'destroyed'
  readonly provider?: string
  readonly createdAt?: Moment
  /** Ids of the sessions that are open. */
  readonly openSessions: readonly string[]
  /** Sessions that were opened. */
  readonly sessions: number
  /** Permissions and questions of all its sessions that have no answer. */
  readonly waiting: readonly SandboxRequest[]
  /** The last event of the sandbox, its operations and its sessions. */
  readonly last: Moment
}

/** Every known sandbox. Read it with `listSandboxes`. */
export interface SandboxOverview {
  readonly sandboxes: WideTable<ListedSandbox>
  /** Ids of destroyed sandboxes in the order they were destroyed. */
  readonly destroyed: readonly string[]
  /** Number of sandboxes that were dropped to stay within the limit. */
  readonly dropped: number
  /** False once a gap may have hidden an event of a sandbox. */
  readonly complete: boolean
}

export interface SandboxesOptions {
  /** Maximum number of destroyed sandboxes, default 1,000. Those that were destroyed first are dropped first. */
  readonly maxDestroyed?: number
}

/** The types that `sandboxesView` uses: with all events its state is the same. */
export const sandboxEventTypes: readonly string[] = [
  'sandbox.*',
  'operation.*',
  'session.*',
  'turn.*',
  'permission.*',
  'question.*',
  'journal.recovered',
  'host.*',
]

/**
 * The sandboxes of a host, from the events of all its journals under one cursor.
 *
 * @example
 * let overview = sandboxesView().empty
 * for await (const item of client.events({ types: sandboxEventTypes })) overview = view.add(overview, [item])
 */
export function sandboxesView(options: SandboxesOptions = {}): View<SandboxOverview> {
  const maxDestroyed = requireWholeNumber('maxDestroyed', options.maxDestroyed ?? 1_000, 0)
  return {
    empty: { sandboxes: {}, destroyed: [], dropped: 0, complete: true },
    add(state, events) {
      const copy = copyOnWrite()
      let overview = state
      for (const item of events) {
        if (isGap(item)) {
          if (overview.complete && gapMayContain(item, sandboxEventTypes))
            overview = { ...overview, complete: false }
        } else if (item.type === 'host.started' || item.type === 'host.stopped') {
          // The sandboxes of a host that was killed are not running either.
          for (const sandbox of wideValuesOf(overview.sandboxes))
            if (sandbox.state === 'running' || sandbox.state === 'paused')
              overview = withSandbox(copy, overview, stoppedSandbox(sandbox), maxDestroyed)
        } else {
          const known = wideEntryOf(overview.sandboxes, item.journal)
          if (known === undefined && !isOfSandbox(item)) continue
          const sandbox = withSandboxEvent(known ?? newSandbox(item), item)
          if (sandbox !== undefined) overview = withSandbox(copy, overview, sandbox, maxDestroyed)
        }
      }
      return overview
    },
  }
}

/**
 * The sandboxes in the order of their creation; those whose creation is missing come first.
 *
 * @example
 * listSandboxes(overview).filter(({ state }) => state === 'running')
 */
export function listSandboxes(overview: SandboxOverview): ListedSandbox[] {
  return wideValuesOf(overview.sandboxes).sort(
    (a, b) => compare(a.createdAt?.time ?? '', b.createdAt?.time ?? '') || compare(a.id, b.id),
  )
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Whether the journal of the event is that of a sandbox. */
function isOfSandbox({ type, journal, sandbox }: JournalEvent): boolean {
  return sandbox === journal || type.startsWith('sandbox.')
}

function withSandbox(
  copy: CopyOnWrite,
  overview: SandboxOverview,
  sandbox: ListedSandbox,
  maxDestroyed: number,
): SandboxOverview {
  const next = copy(overview)
  const before = wideEntryOf(overview.sandboxes, sandbox.id)
  next.sandboxes = withWideEntry(copy, overview.sandboxes, sandbox.id, sandbox)
  if (sandbox.state !== 'destroyed' || before?.state === 'destroyed') return next
  const destroyed = copy(overview.destroyed)
  next.destroyed = destroyed
  destroyed.push(sandbox.id)
  while (destroyed.length > maxDestroyed) {
    next.sandboxes = withoutWideEntry(copy, next.sandboxes, destroyed.shift() ?? '')
    next.dropped += 1
  }
  return next
}
