import { type ExportedItem, type JournalEvent, parseEvent, VitrineError } from '@vitrine/protocol'
import { isWholeNumber } from '@vitrine/protocol/primitives'
import { blobReferences } from './append/large-fields.ts'
import type { BlobReference, CommitRequest, Placement } from './append/plan.ts'
import { Entry } from './entry.ts'
import { chain } from './integrity/chain.ts'
import type { Hole, JournalHead, NewBlob } from './stores/contract.ts'

export type { ExportedItem } from '@vitrine/protocol'

/** An exported item that was checked, with its event as JSON. */
export type MirroredItem =
  | {
      readonly event: JournalEvent
      readonly hash: string
      readonly body: string
      readonly blobs: readonly string[]
    }
  | Extract<ExportedItem, { hole: unknown }>

/** Items come from another machine: an invalid one must fail here, not in a transaction shared with other appends. */
export function mirroredItems(items: readonly ExportedItem[]): readonly MirroredItem[] {
  return items.map((item, index) => {
    if (typeof item !== 'object' || item === null) throw invalidItem(index)
    if ('event' in item && Number.isFinite(Date.parse(parseEvent(item.event).time))) {
      const body = JSON.stringify(item.event)
      return { ...item, body, blobs: blobReferences(body) }
    }
    if ('hole' in item && isHole(item.hole)) return item
    throw invalidItem(index)
  })
}

function invalidItem(index: number): VitrineError {
  return new VitrineError('event_invalid', `items[${index}]: expected an exported event or hole.`)
}

/** A commit request that repeats another store's events: rejected unless `seq` and hashes continue the chain. */
export function mirrorRequest(
  journal: string,
  items: readonly MirroredItem[],
  blobs: readonly NewBlob[],
): CommitRequest {
  return {
    blobs,
    mirror: true,
    place: (head, lastPosition) => placeMirrored(journal, items, head, lastPosition),
  }
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

/** Throws `journal_diverged` if the items do not continue the journal; skips those that it already has. */
export function placeMirrored(
  journal: string,
  items: readonly MirroredItem[],
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
      for (const blob of item.blobs) references.push({ seq: to, blob })
    }
    seq = to
  }
  return { entries, references, seq, hash, time, position, holes }
}

function mirroredEntry(
  journal: string,
  { event, hash, body }: { event: JournalEvent; hash: string; body: string },
  previous: string,
  position: number,
): Entry {
  if (event.journal !== journal)
    throw divergedError(journal, `event ${event.seq} is from the journal ${event.journal}`)
  if (chain(previous, body) !== hash)
    throw divergedError(journal, `the hash of event ${event.seq} does not continue the chain`)
  return new Entry(position, journal, event.seq, hash, body)
}

function divergedError(journal: string, why: string): VitrineError {
  return new VitrineError('journal_diverged', `The journal ${journal} cannot take these events: ${why}.`)
}
