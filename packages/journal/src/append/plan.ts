import { type OpenWork, openWork, VitrineError, workId, workMark } from '@vitrine/protocol'
import type { Entry } from '../entry.ts'
import type { CommitBatch, Hole, JournalHead, NewBlob, Removal, WorkKey } from '../stores/contract.ts'

/** What one append, or one import, wants committed. */
export interface CommitRequest {
  readonly blobs: readonly NewBlob[]
  /** Taken out in the same transaction that says so. */
  readonly removal?: Removal & { readonly bytes: number }
  /** A mirror repeats another host's record: what is open there is not open here. */
  readonly mirror?: true
  /** The ids of what ends, by the place of the event in the wish, as they were before redaction. */
  readonly endedIds?: ReadonlyMap<number, string> | undefined
  /** Gives the events their places after the head. Throws when they cannot follow it. */
  place(head: JournalHead, position: number): Placement
}

export interface Placement {
  readonly entries: readonly Entry[]
  readonly references: readonly BlobReference[]
  /** Where the journal ends with them. */
  readonly seq: number
  readonly hash: string
  readonly time: number
  /** The last commit position that they take. */
  readonly position: number
  /** Holes that come along from a mirrored journal. */
  readonly holes?: readonly Hole[]
}

export interface BlobReference {
  readonly seq: number
  readonly blob: string
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** Gathers wishes into one transaction and keeps law 1: a start is open once, an end closes it once. */
export class CommitPlan {
  readonly #openWork: ReadonlyMap<string, OpenWork>
  readonly #changes = new Map<string, OpenWork | undefined>()
  readonly #heads = new Map<string, Mutable<JournalHead>>()
  readonly #entries: Entry[] = []
  readonly #blobs: NewBlob[] = []
  readonly #references: { journal: string; seq: number; blob: string }[] = []
  readonly #removals: Removal[] = []
  #position: number
  #bytes = 0

  constructor(openWork: ReadonlyMap<string, OpenWork>, lastPosition: number) {
    this.#openWork = openWork
    this.#position = lastPosition
  }

  get entries(): readonly Entry[] {
    return this.#entries
  }

  get heads(): ReadonlyMap<string, JournalHead> {
    return this.#heads
  }

  get changes(): ReadonlyMap<string, OpenWork | undefined> {
    return this.#changes
  }

  get bytes(): number {
    return this.#bytes
  }

  /** The last commit position, with this plan. */
  get position(): number {
    return this.#position
  }

  /** All of a wish, or, with an error, nothing of it. */
  add(current: JournalHead, request: CommitRequest): readonly Entry[] {
    const head = this.#heads.get(current.id) ?? { ...current }
    const { entries, references, seq, hash, time, position, holes = [] } = request.place(head, this.#position)
    // A journal comes to be with its first event.
    if (entries.length === 0 && holes.length === 0 && !request.removal) return entries
    checkWriter(head, request, entries)
    if (!request.mirror) this.#trackWork(entries, request.endedIds)
    let bytes = 0
    for (const entry of entries) {
      this.#entries.push(entry)
      bytes += entry.body.length
    }
    for (const reference of references) this.#references.push({ journal: head.id, ...reference })
    for (const blob of request.blobs) this.#blobs.push(blob)
    this.#bytes += bytes
    this.#position = position
    head.seq = seq
    head.hash = hash
    head.time = time
    head.events += entries.length
    head.bytes += bytes
    if (request.mirror) head.mirror = true
    if (request.removal) {
      this.#removals.push(request.removal)
      head.events -= request.removal.seqs.length
      head.bytes -= request.removal.bytes
    }
    if (holes.length > 0) this.#removals.push({ journal: head.id, seqs: [], droppedHoles: [], holes })
    this.#heads.set(head.id, head)
    return entries
  }

  #trackWork(entries: readonly Entry[], endedIds: CommitRequest['endedIds']): void {
    let changes: Map<string, OpenWork | undefined> | undefined
    const isOpen = (key: string) =>
      changes?.has(key)
        ? changes.get(key) !== undefined
        : this.#changes.has(key)
          ? this.#changes.get(key) !== undefined
          : this.#openWork.has(key)
    for (const [index, entry] of entries.entries()) {
      const mark = workMark(entry.event.type)
      if (mark === undefined) continue
      const id = workId(mark.kind, entry.event)
      if (id === undefined || !id.isWellFormed()) {
        throw new VitrineError(
          'event_invalid',
          `${entry.event.type}: expected the id of the ${mark.kind}, got ${id === undefined ? 'nothing' : 'half a character'}.`,
        )
      }
      const key = workKey({ journal: entry.journal, kind: mark.kind, id })
      changes ??= new Map()
      if (mark.edge === 'start') {
        if (isOpen(key))
          throw new VitrineError('work_already_open', `The ${mark.kind} ${id} has already started.`)
        changes.set(key, openWork(mark.kind, id, entry.event))
      } else {
        // A secret that was registered since the start may have masked the id: it is the same work all the same.
        const given = workKey({ journal: entry.journal, kind: mark.kind, id: endedIds?.get(index) ?? id })
        const ended = [key, given].find(isOpen)
        if (ended === undefined)
          throw new VitrineError(
            'work_not_open',
            `The ${mark.kind} ${id} is not open: it has ended, or never began.`,
          )
        changes.set(ended, undefined)
      }
    }
    if (changes) for (const [key, work] of changes) this.#changes.set(key, work)
  }

  batch(): CommitBatch {
    const opened: OpenWork[] = []
    const closed: WorkKey[] = []
    for (const [key, work] of this.#changes) {
      const before = this.#openWork.get(key)
      if (work) opened.push(work)
      else if (before) closed.push(before)
    }
    return {
      entries: this.#entries,
      heads: [...this.#heads.values()],
      opened,
      closed,
      blobs: this.#blobs,
      references: this.#references,
      removals: this.#removals,
    }
  }
}

/** A mirror that anyone else wrote to could not follow its origin any more, nor could a journal of ours become one. */
function checkWriter(head: JournalHead, request: CommitRequest, entries: readonly Entry[]): void {
  const fits = request.mirror ? head.mirror || head.seq === 0 : !head.mirror || entries.length === 0
  if (fits) return
  const why = head.mirror ? 'it mirrors another store and takes only imports' : 'it has events of its own'
  throw new VitrineError('journal_diverged', `The journal ${head.id} cannot take these events: ${why}.`)
}

export function workKey({ journal, kind, id }: WorkKey): string {
  return `${kind} ${id} ${journal}`
}
