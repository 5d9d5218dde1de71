import {
  type EventFilter,
  type JournalFilter,
  type JournalGap,
  type JournalItem,
  matchTypes,
} from '@vitrine/protocol'
import type { TimeSlice } from '@vitrine/protocol/primitives'
import type { Entry } from '../entry.ts'
import type { Hole, ScanRange, StoreConnection } from '../stores/contract.ts'
import { ScanWindow } from './scan-window.ts'

/** The most text in one page, whatever its item limit: it bounds the memory of each reader. */
const pageBytes = 8 * 1024 * 1024

type ScanOrder = ScanRange['order']

/** Selects events of a scan; `journals` only in the whole store. */
export type ScanFilter = EventFilter & JournalFilter

export interface ScanRequest {
  /** One journal by `seq`, or with null the whole store by commit position. */
  readonly journal: string | null
  /** Exclusive. */
  readonly from: number
  /** Inclusive: the last key in the direction of the scan. */
  readonly to: number
  /** `to` is the newest key: a hole that has grown beyond it meanwhile is returned as a whole. */
  readonly toNewest?: true
  readonly order: 'asc' | 'desc'
  readonly limit: number
  readonly filter: ScanFilter
  readonly slice: TimeSlice
  /** A reader of many pages keeps its window, so that each page does not begin with a small one. */
  readonly window?: ScanWindow | undefined
  readonly signal?: AbortSignal | undefined
}

/** An entry, or a hole where entries were. */
export type ScannedItem = Entry | Hole

export interface ScanResult {
  readonly found: readonly ScannedItem[]
  /** The last key scanned, whether it matched or not. */
  readonly scanned: number
  readonly end: boolean
}

/** Reads window by window, yielding when its time slice is used up, until the limit or the end. Holes appear in order. */
export async function scan(connection: StoreConnection, request: ScanRequest): Promise<ScanResult> {
  const { journal, to, toNewest, order, limit, filter, slice, signal } = request
  const window = request.window ?? new ScanWindow(filter)
  const forwards = order === 'asc'
  const found: ScannedItem[] = []
  let scanned = request.from
  let bytesLeft = pageBytes
  while (forwards ? scanned < to : scanned > to) {
    if (slice.expired) await slice.yieldToEventLoop()
    signal?.throwIfAborted()
    const { keys } = window
    const edge = forwards ? Math.min(scanned + keys, to) : Math.max(scanned - keys, to)
    const wanted = limit - found.length
    const range = { ...filter, journal, from: scanned, to: edge, order, limit: wanted, maxBytes: bytesLeft }
    const { entries, holes: around } = await window.timed(() => readRange(connection, range))
    for (const { body } of entries) bytesLeft -= body.length
    const last = entries.length < wanted && bytesLeft > 0 ? undefined : entries.at(-1)
    let reached = last ? keyOf(last, journal) : edge
    const holes = clip(around.filter(isWithin(journal, reached, order)), journal, {
      scanned,
      to: toNewest ? Number.MAX_SAFE_INTEGER : to,
      order,
    })
    // A hole that crosses the edge of the window is skipped as a whole: it contains no entries.
    if (journal !== null) {
      for (const hole of holes) reached = forwards ? Math.max(reached, hole.to) : Math.min(reached, hole.from)
    }
    merge(found, entries, holes.filter(holeFilter(filter)), journal, order)
    scanned = reached
    if (found.length > limit) {
      // Holes count as items too; the rest comes with the next page.
      found.length = limit
      scanned = farKeyOf(found.at(-1)!, journal, order)
    }
    if (found.length === limit || bytesLeft <= 0) break
  }
  return { found, scanned, end: forwards ? scanned >= to : scanned <= to }
}

/** Reads entries and holes consistently: retries if trimming changed the holes in between. */
async function readRange(
  connection: StoreConnection,
  range: ScanRange,
): Promise<{ entries: readonly Entry[]; holes: readonly Hole[] }> {
  const { journal, from, to } = range
  const [low, high] = range.order === 'asc' ? [from + 1, to] : [to, from - 1]
  let before = await connection.holes(journal, low, high)
  for (;;) {
    const entries = await connection.scan(range)
    const holes = await connection.holes(journal, low, high)
    if (isSame(holes, before)) return { entries, holes }
    before = holes
  }
}

/** Holes only grow, so comparing their edges is enough. */
function isSame(holes: readonly Hole[], others: readonly Hole[]): boolean {
  return (
    holes.length === others.length &&
    holes.every(({ journal, from, to }, index) => {
      const other = others[index]!
      return other.journal === journal && other.from === from && other.to === to
    })
  )
}

function isWithin(journal: string | null, reached: number, order: ScanOrder): (hole: Hole) => boolean {
  const forwards = order === 'asc'
  return (hole) => {
    if (journal === null) return forwards ? hole.position <= reached : hole.position >= reached
    return forwards ? hole.from <= reached : hole.to >= reached
  }
}

export function toItem(found: ScannedItem, cursorOf: (hole: Hole) => string): JournalItem {
  return 'body' in found ? found.event : gapNotice(found, cursorOf(found))
}

function gapNotice({ journal, from, to, reason, types }: Hole, cursor: string): JournalGap {
  return Object.freeze({
    journal,
    type: 'journal.gap' as const,
    data: Object.freeze({ from, to, reason, types: Object.freeze([...types]), cursor }),
  })
}

export function keyOf(found: ScannedItem, journal: string | null): number {
  if (journal === null) return found.position
  return 'body' in found ? found.seq : found.to
}

/** The last key of an item in the direction of the scan. */
function farKeyOf(found: ScannedItem, journal: string | null, order: ScanOrder): number {
  return journal === null || order === 'asc' || 'body' in found ? keyOf(found, journal) : found.from
}

/** A hole is reported only if it may have contained events that match the filter. */
function holeFilter({ types, journals }: ScanFilter): (hole: Hole) => boolean {
  const matches = matchTypes(types)
  return (hole) =>
    (journals === undefined || journals.includes(hole.journal)) &&
    hole.types.some((type) => type === '*' || matches(type))
}

/** Limits holes to the scanned range: a reader that starts or stops inside a hole misses only a part of it. */
function clip(
  holes: readonly Hole[],
  journal: string | null,
  { scanned, to, order }: { scanned: number; to: number; order: ScanOrder },
): readonly Hole[] {
  if (journal === null) return holes
  const [low, high] = order === 'asc' ? [scanned + 1, to] : [to, scanned - 1]
  return holes.map((hole) => ({ ...hole, from: Math.max(hole.from, low), to: Math.min(hole.to, high) }))
}

function merge(
  into: ScannedItem[],
  entries: readonly Entry[],
  holes: readonly Hole[],
  journal: string | null,
  order: ScanOrder,
): void {
  const both: ScannedItem[] = [...entries, ...holes]
  if (holes.length > 0) {
    const direction = order === 'asc' ? 1 : -1
    both.sort((a, b) => (keyOf(a, journal) - keyOf(b, journal)) * direction)
  }
  for (const one of both) into.push(one)
}
