import type { JournalEvent, RememberedHead, Verification } from '@vitrine/protocol'
import type { Entry } from '../entry.ts'
import { ScanWindow } from '../read/scan-window.ts'
import type { Hole, JournalHead, StoreConnection } from '../stores/contract.ts'
import { chain, genesis } from './chain.ts'

export type { RememberedHead, Verification } from '@vitrine/protocol'

/** The most text that is checked before others have their turn, whatever the number of events. */
const pageBytes = 256 * 1024
/** A journal can be trimmed between two queries, so a failed page is checked again. */
const maxAttempts = 3

/**
 * Checks the chain from the first event to the last and returns the first `seq` that fails. Events appended meanwhile
 * are not checked.
 */
export async function verifyJournal(
  connection: StoreConnection,
  journal: string,
  remembered: RememberedHead | undefined,
  signal?: AbortSignal,
): Promise<Verification> {
  const goal = Math.max((await connection.head(journal))?.seq ?? 0, remembered?.seq ?? 0)
  let walk = new ChainWalk(journal, remembered)
  const window = new ScanWindow({ first: 8 })
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted()
    const next = walk.copy()
    const verdict = await window.timed(() => verifyPage(connection, journal, next, goal, window.keys))
    if (verdict?.ok || (verdict && attempt === maxAttempts)) return verdict
    if (!verdict) {
      walk = next
      attempt = 0
    }
    await new Promise(setImmediate)
  }
}

/** Verifies one page; undefined means that there are more. */
async function verifyPage(
  connection: StoreConnection,
  journal: string,
  walk: ChainWalk,
  goal: number,
  limit: number,
): Promise<Verification | undefined> {
  const after = walk.seq
  const to = Number.MAX_SAFE_INTEGER
  const range = { journal, from: after, to, order: 'asc', limit, maxBytes: pageBytes } as const
  const entries = await connection.scan(range)
  const bytes = entries.reduce((sum, { body }) => sum + body.length, 0)
  const last = entries.length < limit && bytes < pageBytes ? to : entries.at(-1)!.seq
  const holes = await connection.holes(journal, after + 1, last)
  const mismatch = await connection.firstIndexMismatch(journal, after, last)
  const failure = walk.step(entries, holes, mismatch)
  const more = last !== to
  if (failure || (more && walk.seq < goal)) return failure
  const head = await connection.head(journal)
  const verdict = walk.end(head, goal)
  // A later page may resolve a failure: `journal.trimmed` comes after the range that it covers. And it shows whether
  // there are events after the recorded head.
  return more && (!verdict.ok || head?.seq === walk.seq) ? undefined : verdict
}

class ChainWalk {
  readonly #journal: string
  readonly #remembered: RememberedHead | undefined
  #unclaimed: { from: number; to: number }[] = []
  #hash: string
  #seq = 0
  #position = 0
  #events = 0
  #trimmed = 0
  #firstHole = 0
  #missing = 0

  constructor(journal: string, remembered: RememberedHead | undefined) {
    this.#journal = journal
    this.#remembered = remembered
    this.#hash = genesis(journal)
  }

  copy(): ChainWalk {
    const copy = new ChainWalk(this.#journal, this.#remembered)
    copy.#unclaimed = [...this.#unclaimed]
    copy.#hash = this.#hash
    copy.#seq = this.#seq
    copy.#position = this.#position
    copy.#events = this.#events
    copy.#missing = this.#missing
    copy.#trimmed = this.#trimmed
    copy.#firstHole = this.#firstHole
    return copy
  }

  /** The last `seq` verified. */
  get seq(): number {
    return this.#seq
  }

  step(
    entries: readonly Entry[],
    holes: readonly Hole[],
    mismatch: number | undefined,
  ): Verification | undefined {
    const start = this.#seq + 1
    let hole = 0
    for (const entry of entries) {
      for (; hole < holes.length && Math.max(holes[hole]!.from, start) < entry.seq; hole += 1) {
        const failure = this.#skipHole(holes[hole]!, start)
        if (failure) return failure
      }
      const failure = this.#check(entry, entry.seq === mismatch)
      if (failure) return failure
    }
    for (; hole < holes.length; hole += 1) {
      const failure = this.#skipHole(holes[hole]!, start)
      if (failure) return failure
    }
    return undefined
  }

  /** The result at the end of the journal; it may have grown beyond `goal` meanwhile. */
  end(head: JournalHead | undefined, goal: number): Verification {
    const seq = this.#seq
    if ((head?.seq ?? 0) > seq && seq < goal)
      return failedAt(seq + 1, 'it is missing: the journal ends before its recorded head')
    if ((head?.seq ?? 0) < seq) return failedAt((head?.seq ?? 0) + 1, 'it is after the recorded head')
    if (head?.seq === seq && head.hash !== this.#hash)
      return failedAt(seq, 'the recorded head has another hash')
    if (this.#remembered && this.#remembered.seq > seq) {
      return failedAt(seq + 1, `it is missing: the remembered head is ${this.#remembered.seq}`)
    }
    // A mirror may be trimmed locally, and its origin has no record of that.
    const unclaimed = head?.mirror ? undefined : this.#unclaimed[0]
    if (unclaimed)
      return failedAt(unclaimed.from, 'it is missing, and no journal.trimmed event accounts for it')
    if (this.#missing > this.#trimmed && !head?.mirror) {
      return failedAt(
        this.#firstHole,
        `from here on ${this.#missing} are missing, but ${this.#trimmed} were trimmed`,
      )
    }
    return { ok: true, head: { seq, hash: this.#hash }, events: this.#events, missing: this.#missing }
  }

  /** A hole trimmed during the verification may begin before `start`, in the range already verified. */
  #skipHole(hole: Hole, start: number): Verification | undefined {
    const { to, hash } = hole
    const from = Math.max(hole.from, start)
    if (from !== this.#seq + 1)
      return failedAt(this.#seq + 1, 'a recorded hole does not continue the sequence')
    const remembered = this.#remembered
    if (remembered && remembered.seq === to && remembered.hash !== hash)
      return failedAt(to, 'the remembered head has another hash')
    this.#hash = hash
    this.#seq = to
    this.#missing += to - from + 1
    this.#firstHole ||= from
    this.#unclaimed.push({ from, to })
    return undefined
  }

  #check(entry: Entry, mismatched: boolean): Verification | undefined {
    const expected = this.#seq + 1
    if (entry.seq !== expected) return failedAt(expected, 'it is missing')
    if (chain(this.#hash, entry.body) !== entry.hash)
      return failedAt(expected, 'its content or its order was changed')
    const event = parseOrUndefined(entry)
    if (event === undefined) return failedAt(expected, 'its stored body is not an event')
    if (entry.position <= this.#position) return failedAt(expected, 'its commit position was changed')
    if (mismatched || event.journal !== this.#journal || event.seq !== expected) {
      return failedAt(expected, 'its indexed columns do not match its body')
    }
    if (this.#remembered?.seq === expected && this.#remembered.hash !== entry.hash) {
      return failedAt(expected, 'the remembered head has another hash')
    }
    // The host's journal also records the trimming of mirrors.
    if (event.type === 'journal.trimmed' && event.data.journal === undefined) {
      this.#claim(event.data.from, event.data.to)
      this.#trimmed += event.data.events
    }
    this.#hash = entry.hash
    this.#position = entry.position
    this.#seq = expected
    this.#events += 1
    return undefined
  }

  /** A `journal.trimmed` event accounts for the holes in its range, or for parts of them. */
  #claim(from: number, to: number): void {
    this.#unclaimed = this.#unclaimed.flatMap((hole) => {
      if (hole.to < from || hole.from > to) return [hole]
      return [
        { from: hole.from, to: from - 1 },
        { from: to + 1, to: hole.to },
      ].filter((part) => part.from <= part.to)
    })
  }
}

function parseOrUndefined(entry: Entry): JournalEvent | undefined {
  try {
    return entry.event
  } catch {
    return undefined
  }
}

function failedAt(seq: number, reason: string): Verification {
  return { ok: false, seq, reason }
}
