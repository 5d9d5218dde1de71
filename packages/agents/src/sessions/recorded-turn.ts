import type { Journal } from '@vitrine/journal'
import {
  type EventData,
  type EventInput,
  type JournalEvent,
  type PromptResult,
  VitrineError,
} from '@vitrine/protocol'
import { withoutUndefined } from './fields.ts'

/** A turn id in the journal: its newest state, and the `seq` of the event that says so. */
export interface TurnRecord {
  readonly session: string
  /** Absent in records of earlier versions. */
  readonly promptHash: string | undefined
  /** `dropped`: ended before the turn started. `cancelled`: the same, because its caller cancelled it. */
  readonly state: 'queued' | 'started' | 'finished' | 'dropped' | 'cancelled'
  readonly seq: number
}

/** The record of a turn after an event of it; undefined for an event that changes nothing. */
export function recordAfter(event: JournalEvent, known: TurnRecord | undefined): TurnRecord | undefined {
  const { session, seq, data } = event
  const state = stateAfter(event)
  if (session === undefined || state === undefined) return undefined
  const promptHash = typeof data.promptHash === 'string' ? data.promptHash : known?.promptHash
  return { session, promptHash, state, seq }
}

/** The end of a prompt whose host ended while it waited. */
export function interruptedPrompt({
  data,
  caller,
  actor,
  run,
  session,
  turn,
  trace,
}: JournalEvent): EventInput {
  const { prompt, promptHash } = data
  return {
    type: 'prompt.dropped',
    ...withoutUndefined({ caller, actor, run, session, turn, trace }),
    derived: true,
    data: { ...withoutUndefined({ prompt, promptHash }), reason: 'interrupted' },
  }
}

function stateAfter({ type, data }: JournalEvent): TurnRecord['state'] | undefined {
  switch (type) {
    case 'prompt.queued':
      return 'queued'
    case 'prompt.dropped':
      return data.reason === 'cancelled' ? 'cancelled' : 'dropped'
    case 'turn.started':
      return 'started'
    case 'turn.finished':
      return 'finished'
    default:
      return undefined
  }
}

/** The result of a turn whose end is on record; throws the error that it ended with. */
export async function recordedResult(
  journal: Pick<Journal, 'read'>,
  turn: string,
  { seq, session }: Pick<TurnRecord, 'seq' | 'session'>,
): Promise<PromptResult> {
  const { events } = await journal.read({ at: seq, limit: 1, types: ['turn.*', 'prompt.*'] })
  const [event] = events
  if (event !== undefined && 'seq' in event && event.seq === seq && event.turn === turn) {
    if (event.type === 'turn.finished') return resultOf(event.data, turn)
    if (event.type === 'prompt.dropped') return droppedResult(event.data, session, turn)
  }
  throw new VitrineError('turn_exists', `The turn ${turn} exists, and the journal no longer has its end.`)
}

function resultOf(data: EventData<'turn.finished'>, turn: string): PromptResult {
  const { outcome, stopReason, usage, cost, context, modelError, connections, errorCode, errorMessage } = data
  if (outcome === 'failed' && errorCode !== undefined)
    throw VitrineError.restored(errorCode, textOf(errorMessage))
  return {
    turn,
    outcome,
    ...withoutUndefined({
      stopReason,
      usage: usage && withoutUndefined(usage),
      cost: cost && withoutUndefined(cost),
      context: context && withoutUndefined(context),
      modelError: modelError && withoutUndefined(modelError),
      connections,
    }),
  }
}

function droppedResult(
  { reason, outcome, errorCode, errorMessage }: EventData<'prompt.dropped'>,
  session: string,
  turn: string,
): PromptResult {
  if (outcome !== undefined) return { turn, outcome }
  switch (reason) {
    case 'cancelled':
      return { turn, outcome: 'cancelled' }
    case 'closed':
      throw new VitrineError(
        'session_closed',
        `The session ${session} was closed before the turn ${turn} started.`,
      )
    case 'failed':
      throw VitrineError.restored(errorCode ?? 'agent_failed', textOf(errorMessage))
    case 'interrupted':
      throw neverStarted(turn)
  }
}

/** The error of a prompt whose host ended before its turn started. */
export function neverStarted(turn: string): VitrineError {
  return new VitrineError(
    'interrupted',
    `The host ended before the turn ${turn} started; none of its work was done. Resume the session and send the prompt again.`,
    { details: { turn } },
  )
}

/** A message too long for its event was stored as a blob; a fixed text stands in for it. */
function textOf(message: EventData<'turn.finished'>['errorMessage']): string {
  return typeof message === 'string' ? message : 'The turn failed; the journal has its message.'
}
