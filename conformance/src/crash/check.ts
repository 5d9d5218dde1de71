import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Journal, RememberedHead, Store } from '@vitrine/journal'
import { isEvent, isGap, type JournalEvent, type JournalItem } from '@vitrine/protocol'
import { allItems } from '../events/all-items.ts'
import { coverageFault, eventsOf } from '../events/coverage.ts'
import { workFault } from '../store/model/promises.ts'
import { longer, type Report, type Stretch } from './report.ts'

/** All that anyone was shown of a store before its host died. */
export interface Shown {
  readonly reports: readonly Report[]
  readonly outside: readonly JournalItem[]
}

export interface Checked {
  readonly events: number
  readonly recoveries: number
  readonly violations: readonly string[]
}

/** Holds what is in a store, after it was opened again and flushed, against what anyone was shown. */
export async function check(store: Store, jsonlPath: string, shown: Shown): Promise<Checked> {
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
      items.some(isGap) ? 'something was trimmed' : undefined,
      workFault(items),
      recoveryFault(own),
      sinkFault(lines.get(id) ?? [], own),
      ...(await headFaults(journal, shown.reports)),
      ...stretchFaults(id, own, shown.reports),
      outsideFault(id, own, shown.outside),
      ...(await blobFaults(store, own)),
    ]
    violations.push(...faults.filter((fault) => fault !== undefined).map((fault) => `${id}: ${fault}`))
  }
  return { events, recoveries, violations }
}

/** Every head that was told is still part of the chain. The last one proves those before it. */
async function headFaults(journal: Journal, reports: readonly Report[]): Promise<string[]> {
  let newest: RememberedHead | undefined
  for (const { acknowledged } of reports) {
    const head = acknowledged?.[journal.id]
    if (head && head.seq >= (newest?.seq ?? 0)) newest = head
  }
  const verification = await journal.verify(newest ? { head: newest } : {})
  return verification.ok ? [] : [`verify: ${verification.seq}: ${verification.reason}`]
}

/** What the writer's own tail gave it is there, letter for letter. */
function stretchFaults(id: string, events: readonly JournalEvent[], reports: readonly Report[]): string[] {
  const newest = new Map<number, Stretch>()
  for (const { seen } of reports) {
    const stretch = seen?.[id]
    if (stretch && stretch.last >= (newest.get(stretch.first)?.last ?? 0)) newest.set(stretch.first, stretch)
  }
  return [...newest.values()].flatMap(({ first, last, digest }) => {
    let found: Stretch | undefined
    for (const event of events.slice(first - 1, last)) found = longer(found, event.seq, JSON.stringify(event))
    if (found?.first === first && found.last === last && found.digest === digest) return []
    return [`a tail gave ${first} to ${last}, but something else is there`]
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
  if (isGap(start)) return 'a reader elsewhere got a gap where nothing was trimmed'
  const disorder = coverageFault(own, { start: start.seq - 1 })
  if (disorder) return `a reader elsewhere: ${disorder}`
  const changed = eventsOf(own).find(
    (event) => JSON.stringify(event) !== JSON.stringify(events[event.seq - 1]),
  )
  return changed && `a reader elsewhere saw event ${changed.seq}, but something else is there`
}

/** What was closed as interrupted is what the recoveries say they closed, each once. */
function recoveryFault(events: readonly JournalEvent[]): string | undefined {
  const interrupted = events.filter(
    ({ data, derived }) => derived === true && data.outcome === 'interrupted',
  ).length
  let closed = 0
  for (const event of events) if (isEvent(event, 'journal.recovered')) closed += event.data.closed.length
  return interrupted === closed
    ? undefined
    : `${interrupted} ends are interrupted, but ${closed} were recovered`
}

/** Every event at least once, and in order when repetitions are left out. */
function sinkFault(lines: readonly JournalItem[], events: readonly JournalEvent[]): string | undefined {
  const known = new Set<number>()
  const firsts: JournalItem[] = []
  for (const line of lines) {
    if (isGap(line)) return 'the sink was given a gap where nothing was trimmed'
    if (known.has(line.seq)) continue
    known.add(line.seq)
    firsts.push(line)
  }
  const fault = coverageFault(firsts, { end: events.length })
  if (fault) return `the sink: ${fault}`
  const changed = eventsOf(firsts).find(
    (line) => JSON.stringify(line) !== JSON.stringify(events[line.seq - 1]),
  )
  return changed && `the sink has another event ${changed.seq}`
}

async function linesByJournal(path: string, violations: string[]): Promise<Map<string, JournalItem[]>> {
  const lines = new Map<string, JournalItem[]>()
  let number = 0
  for await (const line of createInterface({
    input: createReadStream(path),
    crlfDelay: Number.POSITIVE_INFINITY,
  })) {
    number += 1
    const item = parsed(line)
    if (item === undefined) violations.push(`the sink: line ${number} is not whole`)
    else if (lines.has(item.journal)) lines.get(item.journal)?.push(item)
    else lines.set(item.journal, [item])
  }
  return lines
}

function parsed(line: string): JournalItem | undefined {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** Every blob that an event refers to is there, whole. */
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
