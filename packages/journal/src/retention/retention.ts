import { type KnownEvent, matchTypes } from '@vitrine/protocol'
import type { Committer, JournalState } from '../append/committer.ts'
import type { Placement } from '../append/plan.ts'
import { type AppendStages, prepare } from '../append/prepare.ts'
import type { IndexRow, JournalHead, StoreConnection } from '../stores/contract.ts'
import { mergeHoles } from './holes.ts'

/** Limits of each journal. An absent field means no limit. */
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
  /** Whether this event must be removed, given what is removed already. */
  mustTrim(row: IndexRow, trimmed: TrimResult): boolean
}

export interface TrimResult {
  readonly events: number
  readonly bytes: number
}

const isOutput = matchTypes(['process.output', 'agent.unparsed'])
const isAudit = matchTypes([
  'operation.*',
  'permission.*',
  'session.*',
  'prompt.*',
  'turn.*',
  'run.*',
  'loop.*',
  'journal.*',
])

/** Half of the 10 ms that a slice may take, because the machine may be slower than just measured. */
const sliceMs = 5
const rowsAtFirst = 200
const maxRows = 4_000
/** Trimming goes below the limit, so that the next event does not start it again. */
const slack = 0.9

/** Whether a journal exceeds its size limits. Age is checked only when trimming. */
export function isOverLimit({ head }: JournalState, { events, bytes }: RetentionLimits): boolean {
  return (events !== undefined && head.events > events) || (bytes !== undefined && head.bytes > bytes)
}

export interface Trimmer {
  readonly connection: StoreConnection
  readonly committer: Committer
  readonly stages: AppendStages
  readonly signal: AbortSignal
  recordInHostJournal(type: string, data: { readonly [key: string]: unknown }): void
}

/** Trims one journal below its limits, in slices, each one transaction that also appends `journal.trimmed`. */
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
    // New events and the `journal.trimmed` records may exceed the limit again.
    if (!isOverLimit(journal, limits) || events <= records || trimmer.signal.aborted) return total
  }
}

/** The exceeded limits, each computed against the journal's state when it is reached. */
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

/** The order of removal by size limits: output first, then other events, and audit events last. */
function rankOf(type: string): 0 | 1 | 2 {
  if (isOutput(type)) return 0
  return isAudit(type) ? 2 : 1
}

/** Removes events up to this rank in one pass and adds them to `trimmed`. Returns the number of `journal.trimmed` events appended. */
async function trimRank(
  trimmer: Trimmer,
  journal: JournalState,
  excess: Excess,
  rank: number,
  trimmed: { events: number; bytes: number },
): Promise<number> {
  // Excludes the records that this run itself appends.
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
  // If a removed event is itself a `journal.trimmed` record, this record covers its range too.
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
    if (entry?.event.type !== 'journal.trimmed') continue
    // Records in the host's journal about a mirror do not cover events of this journal.
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
    // A mirror takes only its origin's events, so the record goes into the host's own journal.
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

/** The placement of a removal that appends no events. */
function placeNothing({ seq, hash, time }: JournalHead, position: number): Placement {
  return { entries: [], references: [], seq, hash, time, position }
}
