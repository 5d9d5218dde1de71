import { isGap, type JournalEvent, type JournalItem, workId, workMark } from '@vitrine/protocol'
import { coverageFault, numbers } from '../../events/coverage.ts'
import { journalIds, type Model } from './model.ts'

/** What must hold after every step, whatever is under way. */
export function faultNow(world: Model): string | undefined {
  if (world.broken !== undefined) return `a step failed: ${String(world.broken)}`
  for (const [kind, readers] of [
    ['reader', world.followers],
    ['watcher', world.watchers],
  ] as const) {
    for (const [index, reader] of readers.entries()) {
      const fault = reader.fault()
      if (fault) return `${kind} ${index} of ${reader.journal}: ${fault}`
    }
  }
  for (const id of journalIds) {
    const fault = world.pager.fault(id)
    if (fault) return `the reader of the store: ${fault}`
  }
  return undefined
}

/** What must hold once everything has settled. */
export async function faultAtTheEnd(world: Model): Promise<string | undefined> {
  for (const id of journalIds) {
    const [fault] = await faultsOf(world, id)
    if (fault !== undefined) return `${id}: ${fault}`
  }
  return undefined
}

async function faultsOf(world: Model, id: string): Promise<string[]> {
  const journal = await (await world.store()).journal(id)
  const items = await world.itemsOf(id)
  const end = journal.head.seq
  const remains = new Remains(items)
  const readers = [...world.followers, ...world.watchers].filter((reader) => reader.journal === id)
  const given = [...readers.flatMap((reader) => reader.items), ...world.pager.items, ...world.acknowledged]
  const head = world.heads.get(id)
  const verification = await journal.verify(head ? { head } : {})
  return [
    coverageFault(items, { end }),
    ...readers.map((reader) => reader.fault(end)),
    world.pager.fault(id, end),
    ...given.filter((item) => item.journal === id).map((item) => remains.faultOf(item)),
    workFault(items),
    verification.ok ? undefined : `verify: ${verification.seq}: ${verification.reason}`,
  ].filter((fault) => fault !== undefined)
}

/** A journal as it stands at the end. */
class Remains {
  readonly #events = new Map<number, string>()
  readonly #missing = new Set<number>()

  constructor(items: readonly JournalItem[]) {
    for (const item of items) {
      if (isGap(item)) for (const seq of numbers(item.data.from, item.data.to)) this.#missing.add(seq)
      else this.#events.set(item.seq, JSON.stringify(item))
    }
  }

  /** What someone was given is still there, or was trimmed; what someone was told is missing is missing. */
  faultOf(item: JournalItem): string | undefined {
    if (isGap(item)) {
      const there = numbers(item.data.from, item.data.to).find((seq) => !this.#missing.has(seq))
      return there === undefined ? undefined : `a reader was told that ${there} is missing, but it is there`
    }
    if (this.#missing.has(item.seq)) return undefined
    const stored = this.#events.get(item.seq)
    if (stored === undefined) return `someone was given event ${item.seq}, but it is not there`
    return stored === JSON.stringify(item)
      ? undefined
      : `event ${item.seq} is not the one that someone was given`
  }
}

/** Every start that is still on record has one end, and no end is there twice. */
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
