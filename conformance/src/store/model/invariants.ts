import { isGap, type JournalEvent, type JournalItem, workId, workMark } from '@vitrine/protocol'
import { coverageFault, numbers } from '../../events/coverage.ts'
import { journalIds, type Model } from './model.ts'

/** Checks the invariants that hold after every step, even with pending calls. */
export function faultAfterStep(model: Model): string | undefined {
  if (model.broken !== undefined) return `a step failed: ${String(model.broken)}`
  for (const [kind, readers] of [
    ['reader', model.followers],
    ['watcher', model.watchers],
  ] as const) {
    for (const [index, reader] of readers.entries()) {
      const fault = reader.fault()
      if (fault) return `${kind} ${index} of ${reader.journal}: ${fault}`
    }
  }
  for (const id of journalIds) {
    const fault = model.pager.fault(id)
    if (fault) return `the reader of the store: ${fault}`
  }
  return undefined
}

/** Checks the invariants that hold once all calls are settled. */
export async function faultAtTheEnd(model: Model): Promise<string | undefined> {
  for (const id of journalIds) {
    const [fault] = await faultsOf(model, id)
    if (fault !== undefined) return `${id}: ${fault}`
  }
  return undefined
}

async function faultsOf(model: Model, id: string): Promise<string[]> {
  const journal = await (await model.store()).journal(id)
  const items = await model.itemsOf(id)
  const end = journal.head.seq
  const finalJournal = new FinalJournal(items)
  const readers = [...model.followers, ...model.watchers].filter((reader) => reader.journal === id)
  const received = [...readers.flatMap((reader) => reader.items), ...model.pager.items, ...model.acknowledged]
  const head = model.heads.get(id)
  const verification = await journal.verify(head ? { head } : {})
  return [
    coverageFault(items, { end }),
    ...readers.map((reader) => reader.fault(end)),
    model.pager.fault(id, end),
    ...received.filter((item) => item.journal === id).map((item) => finalJournal.faultOf(item)),
    workFault(items),
    verification.ok ? undefined : `verify: ${verification.seq}: ${verification.reason}`,
  ].filter((fault) => fault !== undefined)
}

/** The final contents of a journal. */
class FinalJournal {
  readonly #events = new Map<number, string>()
  readonly #missing = new Set<number>()

  constructor(items: readonly JournalItem[]) {
    for (const item of items) {
      if (isGap(item)) for (const seq of numbers(item.data.from, item.data.to)) this.#missing.add(seq)
      else this.#events.set(item.seq, JSON.stringify(item))
    }
  }

  /** A received event must still be stored or be trimmed; a received gap must still be missing. */
  faultOf(item: JournalItem): string | undefined {
    if (isGap(item)) {
      const there = numbers(item.data.from, item.data.to).find((seq) => !this.#missing.has(seq))
      return there === undefined ? undefined : `a reader got a gap with ${there}, but that event is stored`
    }
    if (this.#missing.has(item.seq)) return undefined
    const stored = this.#events.get(item.seq)
    if (stored === undefined) return `a reader got event ${item.seq}, but it is not stored`
    return stored === JSON.stringify(item)
      ? undefined
      : `the stored event ${item.seq} differs from the one that a reader got`
  }
}

/** Every stored start must have one end, and no end may occur twice. */
export function workFault(items: readonly JournalItem[]): string | undefined {
  const open = new Map<string, JournalEvent>()
  const trimmed = items.some(isGap)
  for (const item of items) {
    if (isGap(item)) continue
    const mark = workMark(item.type)
    if (mark === undefined) continue
    const key = `${mark.kind} ${workId(mark.kind, item)}`
    if (mark.edge === 'start') {
      if (open.has(key)) return `${key} started twice`
      open.set(key, item)
    } else if (!open.delete(key) && !trimmed) return `${key} ended without a start, or twice`
  }
  const left = [...open.keys()][0]
  return left === undefined ? undefined : `${left} has no end`
}
