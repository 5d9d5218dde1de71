import type { JournalEvent, Moment } from '@vitrine/protocol'
import type { CopyOnWrite } from '../copy-on-write.ts'
import { omitUndefined } from '../fields.ts'
import { momentOf } from '../moment.ts'
import type { Content } from './content.ts'
import type { TranscriptLimits } from './limits.ts'
import type { Transcript, TranscriptEntry } from './transcript.ts'

/** How to apply events to a transcript. */
export interface TranscriptBatch {
  readonly copy: CopyOnWrite
  readonly limits: Required<TranscriptLimits>
  /** Called for each entry that an event adds or changes; `added` is the content of a chunk, which is never cut. */
  onEntry?(entry: TranscriptEntry, before: TranscriptEntry | undefined, added: Content | undefined): void
}

/** One event to apply to a transcript, with the context of the batch. */
export interface TranscriptStep extends TranscriptBatch {
  readonly event: JournalEvent
}

/** The common fields of a new entry. */
export function newEntry(
  { event }: TranscriptStep,
  transcript: Transcript,
  id: string,
): { id: string; turn?: string; beganAt: Moment; changedAt: Moment; chars: number } {
  const now = momentOf(event)
  return { id, ...omitUndefined({ turn: turnOf(event, transcript) }), beganAt: now, changedAt: now, chars: 0 }
}

/** The turn of an event, by default the running turn. */
export function turnOf(event: JournalEvent, transcript: Transcript): string | undefined {
  return event.turn || transcript.turn
}
