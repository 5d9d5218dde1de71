import { type JournalEvent, parseEvent, VitrineError } from '@vitrine/protocol'
import { isWholeNumber } from '@vitrine/protocol/primitives'
import { blobReferences } from './append/large-fields.ts'
import type { BlobReference, CommitRequest, Placement } from './append/plan.ts'
import { Entry } from './entry.ts'
import { chain } from './integrity/chain.ts'
import type { Hole, JournalHead } from './stores/contract.ts'

/** An item that one store exports to another: an event with its hash, or the hole that trimming left. */
export type ExportedItem =
  | { readonly event: JournalEvent; readonly hash: string }
  | {
      readonly hole: {
        readonly from: number
        readonly to: number
        readonly hash: string
        readonly reason: string
        readonly types: readonly string[]
      }
    }

/** A commit request that repeats another store's events: rejected unless `seq` and hashes continue the chain. */
export function mirrorRequest(journal: string, items: readonly ExportedItem[]): CommitRequest {
  items.forEach(checkItem)
  return {
    blobs: [],
    mirror: true,
    place: (head, lastPosition) => placeMirrored(journal, items, head, lastPosition),
  }
}

/** Items come from another machine: an invalid one must fail here, not in a transaction shared with other appends. */
function checkItem(item: ExportedItem, index: number): void {
  if ('event' in item && Number.isFinite(Date.parse(parseEvent(item.event).time))) return
  if ('hole' in item && isHole(item.hole)) return
  throw new VitrineError('event_invalid', `items[${index}]: expected an exported event or hole.`)
}

function isHole({
  from,
  to,
  hash,
  reason,
  types,
}: Extract<ExportedItem, { hole: unknown }>['hole']): boolean {
  return (
    isWholeNumber(from, 1) &&
    isWholeNumber(to, from) &&
    /^[0-9a-f]{64}$/.test(hash) &&
    typeof reason === 'string' &&
    Array.isArray(types) &&
    types.every((type) => typeof type === 'string')
  )
}

function placeMirrored(
  journal: string,
  items: readonly ExportedItem[],
  head: JournalHead,
  lastPosition: number,
): Placement {
  let { seq, hash, time } = head
  let position = lastPosition
  const entries: Entry[] = []
  const references: BlobReference[] = []
  const holes: Hole[] = []
  for (const item of items) {
    const given = 'hole' in item ? item.hole : { from: item.event.seq, to: item.event.seq }
    const { to } = given
    if (to <= seq) continue
    // Events of this range that the mirror already has stay.
    const from = 'hole' in item ? Math.max(given.from, seq + 1) : given.from
    if (from !== seq + 1)
      throw divergedError(journal, `it ends at seq ${seq}, so expected ${seq + 1}, got ${from}`)
    if ('hole' in item) {
      hash = item.hole.hash
      // A hole gets its own commit position, so that readers of the whole store pass it like an event.
      position += 1
      holes.push({ ...item.hole, from, journal, position })
    } else {
      const entry = mirroredEntry(journal, item, hash, position + 1)
      position += 1
      hash = entry.hash
      time = Date.parse(item.event.time)
      entries.push(entry)
      for (const blob of blobReferences(entry.body)) references.push({ seq: to, blob })
    }
    seq = to
  }
  return { entries, references, seq, hash, time, position, holes }
}

function mirroredEntry(
  journal: string,
  { event, hash }: { event: JournalEvent; hash: string },
  previous: string,
  position: number,
): Entry {
  if (event.journal !== journal)
    throw divergedError(journal, `event ${event.seq} is from the journal ${event.journal}`)
  const body = JSON.stringify(event)
  if (chain(previous, body) !== hash)
    throw divergedError(journal, `the hash of event ${event.seq} does not continue the chain`)
  return new Entry(position, journal, event.seq, hash, body)
}

export function exportHole({ from, to, hash, reason, types }: Hole): ExportedItem {
  return { hole: { from, to, hash, reason, types } }
}

function divergedError(journal: string, why: string): VitrineError {
  return new VitrineError('journal_diverged', `The journal ${journal} cannot take these events: ${why}.`)
}
