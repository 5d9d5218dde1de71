import { isEvent, type KnownEvent } from '@vitrine/protocol'
import type { Committer, JournalState } from '../append/committer.ts'
import type { Placement } from '../append/plan.ts'
import { type AppendStages, prepare } from '../append/prepare.ts'
import type { IndexRow, JournalHead, StoreConnection } from '../stores/contract.ts'
import { mergeHoles } from './holes.ts'
import { rankOf } from './rank.ts'

/** How much of each journal is kept. Absent means without end. */
export interface RetentionLimits {
  readonly events?: number
  readonly bytes?: number
  readonly ageMs?: number
}

export const defaultRetention: RetentionLimits = { bytes: 1024 * 1024 * 1024 }

type TrimReason = KnownEvent<'journal.trimmed'>['data']['reason']

interface Excess {
  readonly reason: TrimReason
  readonly ranks: readonly (0 | 1 | 2)[]
  /** Whether this one must go, given what has gone already. */
  mustTrim(row: IndexRow, trimmed: TrimResult): boolean
}

export interface TrimResult {
  readonly events: number
  readonly bytes: number
}

/** Half of the 10 ms that a slice may take: the machine may be slower than we measured a moment ago. */
const sliceMs = 5
const rowsAtFirst = 200
const maxRows = 4_000
/** Trimming goes below the limit, so that it does not begin again with the next event. */
const slack = 0.9

/** Whether a journal holds more than it may. Age is looked at only when trimming. */
export function isOverLimit({ head }: JournalState, { events, bytes }: RetentionLimits): boolean {
  return (events !== undefined && head.events > events) || (bytes !== undefined && head.bytes > bytes)
}

export interface Trimmer {
  readonly connection: StoreConnection
  readonly committer: Committer
  readonly stages: AppendStages
  readonly signal: AbortSignal
  /** Into the host's own journal. */
  recordInHostJournal(type: string, data: { readonly [key: string]: unknown }): void
}

/** Brings one journal below its limits, in slices, each its own transaction with the event that says so. */
export async function trim(
  trimmer: Trimmer,
  journal: JournalState,
  limits: RetentionLimits,
): Promise<TrimResult> {
  const total = { events: 0, bytes: 0 }
  for (;;) {
    let events = 0
    let records = 0
    for (const excess of findExcesses(journal, limits)) {
      const trimmed = { events: 0, bytes: 0 }
      for (const rank of excess.ranks) records += await trimRank(trimmer, journal, excess, rank, trimmed)
      events += trimmed.events
      total.events += trimmed.events
      total.bytes += trimmed.bytes
    }
    // What came meanwhile, and what was said about the trimming itself, can be too much again.
    if (!isOverLimit(journal, limits) || events <= records || trimmer.signal.aborted) return total
  }
}

/** What is too much, each worked out against the journal as it is when its turn comes. */
function* findExcesses(journal: JournalState, limits: RetentionLimits): Generator<Excess> {
  if (limits.ageMs !== undefined) {
    const oldest = Date.now() - limits.ageMs
    let reachedYoung = false
    yield {
      reason: 'age',
      ranks: [2],
      mustTrim(row) {
        reachedYoung ||= row.time >= oldest
        return !reachedYoung
      },
    }
  }
  if (limits.events !== undefined && journal.head.events > limits.events) {
    const surplus = journal.head.events - Math.floor(limits.events * slack)
    yield { reason: 'events', ranks: [0, 1, 2], mustTrim: (_row, trimmed) => trimmed.events < surplus }
  }
  if (limits.bytes !== undefined && journal.head.bytes > limits.bytes) {
    const surplus = journal.head.bytes - Math.floor(limits.bytes * slack)
    yield { reason: 'bytes', ranks: [0, 1, 2], mustTrim: (_row, trimmed) => trimmed.bytes < surplus }
  }
}

/** One pass over the journal for what ranks no higher; adds what it took out to `gone`. Returns how often it said so. */
async function trimRank(
  trimmer: Trimmer,
  journal: JournalState,
  excess: Excess,
  rank: number,
  trimmed: { events: number; bytes: number },
): Promise<number> {
  // What this run appends about itself is not its business.
  const last = journal.head.seq - 1
  let rows = rowsAtFirst
  let records = 0
  for (let from = 0; from < last && !trimmer.signal.aborted; ) {
    const started = performance.now()
    const found = await trimmer.connection.index({
      journal: journal.head.id,
      from,
      to: last,
      order: 'asc',
      limit: rows,
    })
    const removed: IndexRow[] = []
    let stop = found.length === 0
    for (const row of found) {
      if (rankOf(row.type) > rank) continue
      if (!excess.mustTrim(row, trimmed)) {
        stop = true
        break
      }
      removed.push(row)
      trimmed.events += 1
      trimmed.bytes += row.bytes
    }
    if (removed.length > 0) {
      await removeSlice(trimmer, journal, removed, excess.reason)
      records += 1
    }
    if (stop) break
    from = found.at(-1)?.seq ?? last
    const took = performance.now() - started
    rows = Math.max(50, Math.min(maxRows, Math.round(rows * Math.min(2, Math.max(0.5, sliceMs / took)))))
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  return records
}

async function removeSlice(
  trimmer: Trimmer,
  journal: JournalState,
  removed: readonly IndexRow[],
  reason: TrimReason,
): Promise<void> {
  const { connection, committer, stages } = trimmer
  const id = journal.head.id
  const seqs = removed.map(({ seq }) => seq)
  const touching = await connection.holes(id, seqs[0]! - 1, seqs.at(-1)! + 1)
  const bytes = removed.reduce((sum, row) => sum + row.bytes, 0)
  // A record of an earlier trimming that goes itself is taken over by this one.
  const claims: KnownEvent<'journal.trimmed'>['data'][] = []
  for (const { seq, type } of removed) {
    if (type !== 'journal.trimmed') continue
    const [entry] = await connection.scan({
      journal: id,
      from: seq - 1,
      to: seq,
      order: 'asc',
      limit: 1,
    })
    if (!entry || !isEvent(entry.event, 'journal.trimmed')) continue
    // What the host's journal tells of a mirror accounts for nothing here.
    if (entry.event.data.journal === undefined) claims.push(entry.event.data)
  }
  const data = {
    from: Math.min(seqs[0]!, ...claims.map((claim) => claim.from)),
    to: Math.max(seqs.at(-1)!, ...claims.map((claim) => claim.to)),
    events: claims.reduce((sum, claim) => sum + claim.events, seqs.length),
    bytes: claims.reduce((sum, claim) => sum + claim.bytes, bytes),
    reason,
  }
  const removal = {
    journal: id,
    seqs,
    bytes,
    droppedHoles: touching,
    holes: mergeHoles(id, removed, touching, reason),
  }
  if (journal.head.mirror) {
    // What is said in a mirror is its origin's to say, so it is said in the host's own journal.
    await committer.append(journal, { blobs: [], removal, place: placeNothing }, { size: 0, ending: false })
    trimmer.recordInHostJournal('journal.trimmed', { ...data, journal: id })
    return
  }
  const writer = { source: 'host' as const, context: {} }
  const record = prepare([{ type: 'journal.trimmed', data, derived: true }], writer, stages)
  await committer.append(
    journal,
    { blobs: [], removal, place: (head, position) => record.place(head, position) },
    record,
  )
}

/** A removal that adds nothing. */
function placeNothing({ seq, hash, time }: JournalHead, position: number): Placement {
  return { entries: [], references: [], seq, hash, time, position }
}
