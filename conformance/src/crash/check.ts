import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Journal, RememberedHead, Store } from '@vitrine/journal'
import { isGap, type JournalEvent, type JournalItem } from '@vitrine/protocol'
import { allItems } from '../events/all-items.ts'
import { coverageFault, eventsOf } from '../events/coverage.ts'
import { workFault } from '../store/model/invariants.ts'
import { type EventRange, extendRange, type Report } from './report.ts'

/** Everything that readers and writers observed of a store before its host was killed. */
export interface Observations {
  readonly reports: readonly Report[]
  readonly outside: readonly JournalItem[]
}

export interface CheckResult {
  readonly events: number
  readonly recoveries: number
  readonly violations: readonly string[]
}

/** Compares the contents of a reopened and flushed store with the observations. */
export async function check(store: Store, jsonlPath: string, observed: Observations): Promise<CheckResult> {
  const violations: string[] = []
  const lines = await linesByJournal(jsonlPath, violations)
  let events = 0
  let recoveries = 0
  for (const id of await store.journals()) {
    const journal = await store.journal(id)
    const items = await allItems(journal, { limit: 10_000 })
    const own = eventsOf(items)
    events += own.length
    recoveries += own.filter(({ type }) => type === 'journal.recovered').length
    const faults = [
      coverageFault(items, { end: journal.head.seq }),
      items.some(isGap) ? 'it has a gap, but nothing was trimmed' : undefined,
      workFault(items),
      recoveryFault(own),
      sinkFault(lines.get(id) ?? [], own),
      ...(await headFaults(journal, observed.reports)),
      ...rangeFaults(id, own, observed.reports),
      outsideFault(id, own, observed.outside),
      ...(await blobFaults(store, own)),
    ]
    violations.push(...faults.filter((fault) => fault !== undefined).map((fault) => `${id}: ${fault}`))
  }
  return { events, recoveries, violations }
}

/** Every reported head must still be part of the chain. The newest one proves the earlier ones. */
async function headFaults(journal: Journal, reports: readonly Report[]): Promise<string[]> {
  let newest: RememberedHead | undefined
  for (const { acknowledged } of reports) {
    const head = acknowledged?.[journal.id]
    if (head && head.seq >= (newest?.seq ?? 0)) newest = head
  }
  const verification = await journal.verify(newest ? { head: newest } : {})
  return verification.ok ? [] : [`verify: ${verification.seq}: ${verification.reason}`]
}

/** The events that the writer's own tail yielded must be stored unchanged. */
function rangeFaults(id: string, events: readonly JournalEvent[], reports: readonly Report[]): string[] {
  const newest = new Map<number, EventRange>()
  for (const { seen } of reports) {
    const range = seen?.[id]
    if (range && range.last >= (newest.get(range.first)?.last ?? 0)) newest.set(range.first, range)
  }
  return [...newest.values()].flatMap(({ first, last, digest }) => {
    let found: EventRange | undefined
    for (const event of events.slice(first - 1, last))
      found = extendRange(found, event.seq, JSON.stringify(event))
    if (found?.first === first && found.last === last && found.digest === digest) return []
    return [`the writer's tail yielded ${first} to ${last}, but the stored events differ`]
  })
}

function outsideFault(
  id: string,
  events: readonly JournalEvent[],
  seen: readonly JournalItem[],
): string | undefined {
  const own = seen.filter((item) => item.journal === id)
  const start = own[0]
  if (start === undefined) return undefined
  if (isGap(start)) return 'a reader in another process got a gap, but nothing was trimmed'
  const disorder = coverageFault(own, { start: start.seq - 1 })
  if (disorder) return `a reader in another process: ${disorder}`
  const changed = eventsOf(own).find(
    (event) => JSON.stringify(event) !== JSON.stringify(events[event.seq - 1]),
  )
  return changed && `a reader in another process got event ${changed.seq}, but the stored event differs`
}

/** The number of interrupted ends must equal the number of closed items in `journal.recovered` events. */
function recoveryFault(events: readonly JournalEvent[]): string | undefined {
  const interrupted = events.filter(
    ({ data, derived }) => derived === true && data.outcome === 'interrupted',
  ).length
  let closed = 0
  for (const event of events) if (event.type === 'journal.recovered') closed += event.data.closed.length
  return interrupted === closed
    ? undefined
    : `${interrupted} ends are interrupted, but ${closed} were recovered`
}

/** The sink must have every event at least once, in order apart from repetitions. */
function sinkFault(lines: readonly JournalItem[], events: readonly JournalEvent[]): string | undefined {
  const known = new Set<number>()
  const firsts: JournalItem[] = []
  for (const line of lines) {
    if (isGap(line)) return 'the sink got a gap, but nothing was trimmed'
    if (known.has(line.seq)) continue
    known.add(line.seq)
    firsts.push(line)
  }
  const fault = coverageFault(firsts, { end: events.length })
  if (fault) return `the sink: ${fault}`
  const changed = eventsOf(firsts).find(
    (line) => JSON.stringify(line) !== JSON.stringify(events[line.seq - 1]),
  )
  return changed && `the sink's event ${changed.seq} differs from the stored one`
}

async function linesByJournal(path: string, violations: string[]): Promise<Map<string, JournalItem[]>> {
  const lines = new Map<string, JournalItem[]>()
  let number = 0
  for await (const line of createInterface({
    input: createReadStream(path),
    crlfDelay: Number.POSITIVE_INFINITY,
  })) {
    number += 1
    const item = parseLine(line)
    if (item === undefined) violations.push(`the sink: line ${number} is incomplete`)
    else if (lines.has(item.journal)) lines.get(item.journal)?.push(item)
    else lines.set(item.journal, [item])
  }
  return lines
}

function parseLine(line: string): JournalItem | undefined {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** Every blob that an event refers to must be stored completely. */
async function blobFaults(store: Store, events: readonly JournalEvent[]): Promise<string[]> {
  const hashes = new Set(
    events.flatMap((event) => JSON.stringify(event.data).match(/sha256:[0-9a-f]{64}/g) ?? []),
  )
  const faults: string[] = []
  for (const hash of hashes) {
    try {
      const digest = createHash('sha256')
      for await (const part of (await store.getBlob(hash)).stream) digest.update(part)
      if (`sha256:${digest.digest('hex')}` !== hash) faults.push(`the blob ${hash} has other bytes`)
    } catch (error) {
      faults.push(`the blob ${hash}: ${String(error)}`)
    }
  }
  return faults
}
