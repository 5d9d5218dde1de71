import type { JournalEvent, Moment } from '@vitrine/protocol'
import type { CopyOnWrite } from '../copy-on-write.ts'
import { omitUndefined } from '../fields.ts'
import { momentOf } from '../moment.ts'
import type { TranscriptLimits } from './limits.ts'
import type { Transcript } from './transcript.ts'

/** One event to apply to a transcript, with the context of the batch. */
export interface TranscriptStep {
  readonly event: JournalEvent
  readonly copy: CopyOnWrite
  readonly limits: Required<TranscriptLimits>
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
