import type { EventInput } from '@vitrine/protocol'
import { interruptedEnd, type OpenWork, type WorkKindName, workKinds } from '@vitrine/protocol'

/** Nested work is closed before the work around it. */
const order = Object.keys(workKinds) as WorkKindName[]

const reason = 'Its host ended before it did.'

/** The events that close the work which a dead owner left open in one journal. */
export function recoveryEvents(open: readonly OpenWork[]): EventInput[] {
  const sorted = [...open].sort(
    (a, b) => order.indexOf(a.kind) - order.indexOf(b.kind) || b.startedAt - a.startedAt,
  )
  return [
    ...sorted.map((work) => interruptedEnd(work, reason)),
    {
      type: 'journal.recovered',
      derived: true,
      data: { reason, closed: sorted.map(({ kind, id, startedAt }) => ({ kind, id, startedAt })) },
    },
  ]
}
