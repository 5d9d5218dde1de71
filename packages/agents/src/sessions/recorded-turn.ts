import type { Journal } from '@vitrine/journal'
import { type EventData, isEvent, type PromptResult, readPages, VitrineError } from '@vitrine/protocol'
import { omitUndefined } from '../routing/omit-undefined.ts'

/** Looks up a turn of an earlier daemon in the journal. The returned function gives its result, or throws its error. */
export async function recordedTurn(
  journal: Journal,
  session: string,
  turn: string,
): Promise<(() => PromptResult) | undefined> {
  for await (const { events } of readPages(journal, { session, types: ['turn.finished'], order: 'desc' })) {
    for (const item of events)
      if (isEvent(item, 'turn.finished') && item.turn === turn) return () => resultOf(item.data, turn)
  }
  return undefined
}

function resultOf(data: EventData<'turn.finished'>, turn: string): PromptResult {
  const { outcome, stopReason, usage, modelError, errorCode, errorMessage } = data
  if (outcome === 'failed' && errorCode !== undefined)
    throw VitrineError.restored(errorCode, textOf(errorMessage))
  return {
    turn,
    outcome,
    ...omitUndefined({
      stopReason,
      usage: usage && omitUndefined(usage),
      modelError: modelError && omitUndefined(modelError),
    }),
  }
}

/** A message too long for its event was stored as a blob; a fixed text stands in for it. */
function textOf(message: EventData<'turn.finished'>['errorMessage']): string {
  return typeof message === 'string' ? message : 'The turn failed; the journal has its message.'
}
