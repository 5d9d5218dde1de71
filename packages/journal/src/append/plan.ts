import { type OpenWork, openWork, VitrineError, workId, workMark } from '@vitrine/protocol'
import type { Entry } from '../entry.ts'
import type { CommitBatch, Hole, JournalHead, NewBlob, Removal, WorkKey } from '../stores/contract.ts'

/** The changes of one append or one import. */
export interface CommitRequest {
  readonly blobs: readonly NewBlob[]
  /** Events to remove in the same transaction that appends `journal.trimmed`. */
  readonly removal?: Removal & { readonly bytes: number }
  /** A mirror repeats another host's events: work that is open there is not open here. */
  readonly mirror?: true
  /** The ids of ended work as they were before redaction, by the index of the end event. */
  readonly endedIds?: ReadonlyMap<number, string> | undefined
  /** Assigns `seq`, position and hash to the events. Throws if they cannot follow the head. */
  place(head: JournalHead, position: number): Placement
}

export interface Placement {
  readonly entries: readonly Entry[]
  readonly references: readonly BlobReference[]
  /** The journal's new head: `seq`, hash and time. */
  readonly seq: number
  readonly hash: string
  readonly time: number
  /** The last commit position that the events use. */
  readonly position: number
  /** Holes imported from a mirrored journal. */
  readonly holes?: readonly Hole[]
}

export interface BlobReference {
  readonly seq: number
  readonly blob: string
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** Collects commit requests into one transaction and enforces law 1: work starts once and ends once. */
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

  /** The last commit position once this plan is committed. */
  get position(): number {
    return this.#position
  }

  /** Adds all events of a request, or throws and adds none. */
  add(current: JournalHead, request: CommitRequest): readonly Entry[] {
    const head = this.#heads.get(current.id) ?? { ...current }
    const { entries, references, seq, hash, time, position, holes = [] } = request.place(head, this.#position)
    // A journal is created by its first event.
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
          `${entry.event.type}: expected the id of the ${mark.kind}, got ${id === undefined ? 'none' : 'text with a lone surrogate'}.`,
        )
      }
      const key = workKey({ journal: entry.journal, kind: mark.kind, id })
      changes ??= new Map()
      if (mark.edge === 'start') {
        if (isOpen(key))
          throw new VitrineError('work_already_open', `The ${mark.kind} ${id} has already started.`)
        changes.set(key, openWork(mark.kind, id, entry.event))
      } else {
        // A secret registered since the start may have masked the id, so look up the original id too.
        const given = workKey({ journal: entry.journal, kind: mark.kind, id: endedIds?.get(index) ?? id })
        const ended = [key, given].find(isOpen)
        if (ended === undefined)
          throw new VitrineError(
            'work_not_open',
            `The ${mark.kind} ${id} is not open: it has already ended or never started.`,
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

/** A mirror takes only imports, and a journal with its own events takes none: otherwise it would diverge from its origin. */
function checkWriter(head: JournalHead, request: CommitRequest, entries: readonly Entry[]): void {
  const fits = request.mirror ? head.mirror || head.seq === 0 : !head.mirror || entries.length === 0
  if (fits) return
  const why = head.mirror ? 'it mirrors another store and takes only imports' : 'it has events of its own'
  throw new VitrineError('journal_diverged', `The journal ${head.id} cannot take these events: ${why}.`)
}

export function workKey({ journal, kind, id }: WorkKey): string {
  return `${kind} ${id} ${journal}`
}
