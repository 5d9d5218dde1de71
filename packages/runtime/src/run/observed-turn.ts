import {
  type Cost,
  isGap,
  type JournalItem,
  type JournalReader,
  type Outcome,
  type Usage,
} from '@vitrine/protocol'
import { changedFilesView, listChangedFiles, rebuild } from '@vitrine/views'
import { type SandboxEvent, sandboxEvent } from '../events/sandbox-event.ts'
import type { RunEvidence } from './evidence.ts'
import type { TurnResult } from './options.ts'

/** Everything that is known of a turn so far, however it ends. */
export class ObservedTurn {
  readonly #items: JournalItem[] = []
  readonly events: SandboxEvent[] = []
  journal: JournalReader | undefined
  usage: Usage | undefined
  cost: Cost | undefined
  readError: unknown

  add(item: JournalItem): SandboxEvent {
    const event = sandboxEvent(item)
    this.#items.push(item)
    this.events.push(event)
    return event
  }

  get cursor(): string | undefined {
    const last = this.#items.at(-1)
    return last && this.journal?.cursor(last)
  }

  result<Out>(out: Out, outcome: Outcome): TurnResult<Out> {
    const { events, usage, cost, cursor } = this
    return {
      out,
      events,
      outcome,
      ...(usage !== undefined && { usage }),
      ...(cost !== undefined && { cost }),
      changedFiles: listChangedFiles(rebuild(changedFilesView, this.#items)),
      // A turn that has ended has at least its own events.
      cursor: cursor ?? '',
    }
  }

  /** The usage that the end of the turn reports, also of a turn whose call failed. */
  readReport(): void {
    const end = this.#items.findLast((item) => item.type === 'turn.finished')
    if (end === undefined || isGap(end) || end.type !== 'turn.finished') return
    // Events are JSON, which has no undefined members.
    this.usage = end.data.usage as Usage | undefined
    this.cost = end.data.cost as Cost | undefined
  }

  evidence(): RunEvidence {
    const { events, cursor, usage, cost, readError } = this
    return {
      events,
      ...(cursor !== undefined && { cursor }),
      ...(usage !== undefined && { usage }),
      ...(cost !== undefined && { cost }),
      ...(readError !== undefined && { readError }),
    }
  }
}
