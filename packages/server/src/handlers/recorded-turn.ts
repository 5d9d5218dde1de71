import type { Journal } from '@vitrine/journal'
import { type EventData, isEvent, type PromptResult, VitrineError } from '@vitrine/protocol'
import { omitUndefined } from '../routing/omit-undefined.ts'

/** Looks up a turn of an earlier daemon in the journal. The returned function gives its result, or throws its error. */
export async function recordedTurn(
  journal: Journal,
  session: string,
  turn: string,
): Promise<(() => PromptResult) | undefined> {
  for (let before: string | undefined; ; ) {
    const page = await journal.read({
      session,
      types: ['turn.finished'],
      order: 'desc',
      ...(before !== undefined && { before }),
    })
    const found = page.events.find((item) => isEvent(item, 'turn.finished') && item.turn === turn)
    if (found !== undefined && isEvent(found, 'turn.finished')) return () => resultOf(found.data, turn)
    if (page.end) return undefined
    before = page.cursor
  }
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
