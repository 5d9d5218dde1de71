import type { FailedConnection, ModelErrorSign } from '@vitrine/protocol'
import {
  asFields,
  countIn,
  type Fields,
  fieldsIn,
  numberIn,
  omitUndefined,
  outcomeIn,
  textsIn,
} from '../fields.ts'
import { momentOf } from '../moment.ts'
import { longTextIn } from '../text/long-text.ts'
import { nameIn } from './bounded.ts'
import { endCurrentMessage } from './entries.ts'
import { addPrompt } from './messages.ts'
import type { TranscriptStep } from './step.ts'
import { withCallsClosed, withTurnClosed } from './tool-calls.ts'
import type { Transcript, TranscriptTurn } from './transcript.ts'
import { contextOf, costIn, usageOf, withTurnUsage } from './usage.ts'

const maxConnections = 5
const signs = ['message', 'silence'] as const

/** Only the first start and the first end of a turn count. */
export function applyTurnStarted(step: TranscriptStep, transcript: Transcript): Transcript {
  const { event } = step
  const id = event.turn || `turn_${event.seq}`
  if (turnIndex(transcript, id) >= 0) return transcript
  const index = countIn(asFields(event.data), 'index')
  const next = step.copy(
    withTurn(step, endCurrentMessage(step.copy, transcript), {
      id,
      ...omitUndefined({ index }),
      startedAt: momentOf(event),
    }),
  )
  next.turn = id
  return addPrompt(step, next)
}

export function applyTurnFinished(step: TranscriptStep, transcript: Transcript): Transcript {
  const { event } = step
  const id = event.turn || transcript.turn
  if (id === undefined) return transcript
  const known = transcript.turns[turnIndex(transcript, id)] ?? { id }
  if (known.endedAt !== undefined) return transcript
  const data = asFields(event.data)
  const turn = { ...known, ...endOf(data), endedAt: momentOf(event) }
  const closed = withTurnClosed(
    step,
    withCallsClosed(step, transcript, textsIn(data, 'closedToolCalls') ?? []),
    id,
    turn.outcome === 'ok' ? 'unfinished' : 'cancelled',
  )
  const next = step.copy(withTurn(step, endCurrentMessage(step.copy, closed), turn))
  next.usage = withTurnUsage(next.usage, turn.usage)
  if (next.turn === id) delete next.turn
  return next
}

function withTurn(
  { copy, limits }: TranscriptStep,
  transcript: Transcript,
  turn: TranscriptTurn,
): Transcript {
  const next = copy(transcript)
  const turns = copy(transcript.turns)
  const index = turnIndex(transcript, turn.id)
  if (index < 0) turns.push(turn)
  else turns[index] = turn
  while (turns.length > limits.maxTurns) {
    turns.shift()
    next.droppedTurns += 1
  }
  next.turns = turns
  return next
}

/** Searches from the end, since it is almost always the last one. */
function turnIndex({ turns }: Transcript, id: string): number {
  return turns.findLastIndex((turn) => turn.id === id)
}

function endOf(data: Fields) {
  return omitUndefined({
    outcome: outcomeIn(data),
    stopReason: nameIn(data, 'stopReason'),
    durationMs: numberIn(data, 'durationMs'),
    usage: usageOf(data),
    cost: costIn(data),
    context: contextOf(fieldsIn(data, 'context')),
    modelError: modelErrorOf(fieldsIn(data, 'modelError')),
    errorType: nameIn(data, 'errorType'),
    errorCode: nameIn(data, 'errorCode'),
    errorMessage: nameIn({ message: longTextIn(data, 'errorMessage') }, 'message'),
  })
}

function modelErrorOf(fields: Fields): ModelErrorSign | undefined {
  const sign = signs.find((one) => one === fields.sign)
  const connections = failedConnectionsOf(fields.connections)
  return (
    sign && {
      sign,
      ...omitUndefined({ text: nameIn(fields, 'text'), hint: nameIn(fields, 'hint'), connections }),
    }
  )
}

function failedConnectionsOf(value: unknown): readonly FailedConnection[] | undefined {
  if (!Array.isArray(value)) return undefined
  return value.slice(0, maxConnections).flatMap((one) => {
    const fields = asFields(one)
    const host = nameIn(fields, 'host')
    const port = countIn(fields, 'port')
    if (host === undefined || port === undefined) return []
    const error = nameIn(fields, 'error') ?? ''
    return [{ host, port, error, ...omitUndefined({ allow: nameIn(fields, 'allow') }) }]
  })
}
