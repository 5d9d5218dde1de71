import type { JournalEvent } from '@vitrine/protocol'
import type { CopyOnce } from '../copy-once.ts'
import { present } from '../fields.ts'
import { type Moment, momentOf } from '../moment.ts'
import type { TranscriptLimits } from './limits.ts'
import type { Transcript } from './transcript.ts'

/** One event on its way into a transcript. */
export interface Step {
  readonly event: JournalEvent
  readonly copy: CopyOnce
  readonly limits: Required<TranscriptLimits>
}

/** What every entry starts with. */
export function newEntry(
  { event }: Step,
  transcript: Transcript,
  id: string,
): { id: string; turn?: string; beganAt: Moment; changedAt: Moment; chars: number } {
  const now = momentOf(event)
  return { id, ...present({ turn: turnOf(event, transcript) }), beganAt: now, changedAt: now, chars: 0 }
}

/** The turn that an event says it belongs to, or else the one that runs. */
export function turnOf(event: JournalEvent, transcript: Transcript): string | undefined {
  return event.turn || transcript.turn
}
