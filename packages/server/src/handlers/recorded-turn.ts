import type { Journal } from '@vitrine/journal'
import { isEvent, type PromptResult, VitrineError } from '@vitrine/protocol'

/** How a turn ended that this daemon did not begin, as the record has it: it is given, or thrown. */
export async function recordedTurn(
  journal: Journal,
  session: string,
  turn: string,
): Promise<(() => PromptResult) | undefined> {
  for (let before: string | undefined; ; ) {
    const page = await journal.read({
      session,
      types: ['turn.finished'],
      order: 'backwards',
      ...(before !== undefined && { before }),
    })
    const found = page.events.find((item) => isEvent(item, 'turn.finished') && item.turn === turn)
    if (found !== undefined && isEvent(found, 'turn.finished')) return () => resultOf(found.data, turn)
    if (page.end) return undefined
    before = page.cursor
  }
}

interface Finished {
  readonly outcome: PromptResult['outcome']
  readonly [field: string]: unknown
}

function resultOf(
  { outcome, stopReason, usage, modelError, errorCode, errorMessage }: Finished,
  turn: string,
): PromptResult {
  if (outcome === 'failed' && typeof errorCode === 'string')
    throw Object.assign(new VitrineError('agent_failed', String(errorMessage)), { code: errorCode })
  return { turn, outcome, stopReason, usage, modelError } as PromptResult
}
