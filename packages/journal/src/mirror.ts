import { type JournalEvent, parseEvent, VitrineError } from '@vitrine/protocol'
import { blobReferences } from './append/large-fields.ts'
import type { BlobReference, CommitRequest, Placement } from './append/plan.ts'
import { Entry } from './entry.ts'
import { chain } from './integrity/chain.ts'
import type { Hole, JournalHead } from './stores/contract.ts'

/** What one store gives another: an event with its hash, or the hole where events were. */
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

/** A wish that repeats another store's record: same `seq`, same hashes, or it is refused. */
export function mirrorRequest(journal: string, items: readonly ExportedItem[]): CommitRequest {
  items.forEach(checkItem)
  return {
    blobs: [],
    mirror: true,
    place: (head, lastPosition) => placeMirrored(journal, items, head, lastPosition),
  }
}

/** It came from another machine: what the store cannot hold must not get as far as a transaction with others. */
function checkItem(item: ExportedItem, index: number): void {
  if ('event' in item && Number.isFinite(Date.parse(parseEvent(item.event).time))) return
  if ('hole' in item && isHole(item.hole)) return
  throw new VitrineError('event_invalid', `items[${index}]: expected an event or a hole of another store.`)
}

function isHole({
  from,
  to,
  hash,
  reason,
  types,
}: Extract<ExportedItem, { hole: unknown }>['hole']): boolean {
  return (
    Number.isSafeInteger(from) &&
    Number.isSafeInteger(to) &&
    from >= 1 &&
    to >= from &&
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
    // What is here of a hole stays here.
    const from = 'hole' in item ? Math.max(given.from, seq + 1) : given.from
    if (from !== seq + 1) throw divergedError(journal, `it ends at ${seq} and ${from} was given`)
    if ('hole' in item) {
      hash = item.hole.hash
      // A place of its own in the commit order: readers of the whole store pass it like an event.
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
  if (event.journal !== journal) throw divergedError(journal, `an event of ${event.journal} was given`)
  const body = JSON.stringify(event)
  if (chain(previous, body) !== hash)
    throw divergedError(journal, `event ${event.seq} does not continue its chain`)
  return new Entry(position, journal, event.seq, hash, body)
}

export function exportHole({ from, to, hash, reason, types }: Hole): ExportedItem {
  return { hole: { from, to, hash, reason, types } }
}

function divergedError(journal: string, why: string): VitrineError {
  return new VitrineError('journal_diverged', `The journal ${journal} cannot take these events: ${why}.`)
}
