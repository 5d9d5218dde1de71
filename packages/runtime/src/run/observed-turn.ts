import { isGap, type JournalItem, type JournalReader, type Outcome } from '@vitrine/protocol'
import { changedFilesView, listChangedFiles } from '@vitrine/views'
import { addUse, type ReportedUse, reportedUse } from '../events/reported-use.ts'
import { type SandboxEvent, sandboxEvent } from '../events/sandbox-event.ts'
import type { RunEvidence } from './evidence.ts'
import type { TurnResult } from './options.ts'

/** Everything that is known of a turn so far, however it ends. */
export class ObservedTurn {
  readonly #maxEvents: number
  readonly events: SandboxEvent[] = []
  #omitted = 0
  #last: JournalItem | undefined
  #changed = changedFilesView.empty
  journal: JournalReader | undefined
  /** The id of the turn, once its prompt is sent. */
  turn: string | undefined
  /** The report at the end of the turn. `llm_call` events are counted as they come. */
  reportedAtEnd: ReportedUse = {}
  #reportedByEvents: ReportedUse = {}
  readError: unknown

  constructor(maxEvents: number) {
    this.#maxEvents = maxEvents
  }

  add(item: JournalItem): SandboxEvent {
    const event = sandboxEvent(item)
    this.#last = item
    this.#changed = changedFilesView.add(this.#changed, [item])
    if (this.events.length < this.#maxEvents) this.events.push(event)
    else this.#omitted += 1
    const use = reportedUse(event)
    if (use !== undefined) this.#reportedByEvents = addUse(this.#reportedByEvents, use)
    if (item.type === 'turn.finished' && !isGap(item) && item.turn === this.turn) {
      const { usage, cost } = item.data
      // Events are JSON, which has no undefined members.
      this.reportedAtEnd = { ...(usage && { usage }), ...(cost && { cost }) } as ReportedUse
    }
    return event
  }

  get cursor(): string | undefined {
    return this.#last && this.journal?.cursor(this.#last)
  }

  result<Out>(out: Out, outcome: Outcome): TurnResult<Out> {
    const { readError: _, ...known } = this.evidence()
    // A turn that has ended has at least its own events.
    const { cursor = '' } = known
    return { out, outcome, ...known, changedFiles: listChangedFiles(this.#changed), cursor }
  }

  evidence(): RunEvidence {
    const { events, cursor, readError } = this
    return {
      events,
      ...(this.#omitted > 0 && { omittedEvents: this.#omitted }),
      ...(cursor !== undefined && { cursor }),
      ...addUse(this.#reportedByEvents, this.reportedAtEnd),
      ...(readError !== undefined && { readError }),
    }
  }
}
