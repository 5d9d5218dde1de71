import type { ModelErrorSign } from '@vitrine/protocol'
import { asFields, countIn, type Fields, fieldsIn, numberIn, outcomeIn, present, textsIn } from '../fields.ts'
import { longTextIn } from '../lines/summary/long-text.ts'
import { momentOf } from '../moment.ts'
import { nameIn } from './bounded.ts'
import { withoutSpeaker } from './entries.ts'
import { prompted } from './messages.ts'
import type { Step } from './step.ts'
import { withCallsClosed, withTurnClosed } from './tool-calls.ts'
import type { Transcript, TranscriptTurn } from './transcript.ts'
import { usageOf, withTurnUsage } from './usage.ts'

const signs = ['message', 'silence'] as const

/** Only the first start of a turn counts, and its first end. */
export function turnStarted(step: Step, transcript: Transcript): Transcript {
  const { event } = step
  const id = event.turn || `turn_${event.seq}`
  if (placeOf(transcript, id) >= 0) return transcript
  const index = countIn(asFields(event.data), 'index')
  const next = step.copy(
    withTurn(step, withoutSpeaker(step.copy, transcript), {
      id,
      ...present({ index }),
      startedAt: momentOf(event),
    }),
  )
  next.turn = id
  return prompted(step, next)
}

export function turnFinished(step: Step, transcript: Transcript): Transcript {
  const { event } = step
  const id = event.turn || transcript.turn
  if (id === undefined) return transcript
  const known = transcript.turns[placeOf(transcript, id)] ?? { id }
  if (known.endedAt !== undefined) return transcript
  const data = asFields(event.data)
  const turn = { ...known, ...endOf(data), endedAt: momentOf(event) }
  const closed = withTurnClosed(
    step,
    withCallsClosed(step, transcript, textsIn(data, 'closedToolCalls') ?? []),
    id,
    turn.outcome === 'ok' ? 'unfinished' : 'cancelled',
  )
  const next = step.copy(withTurn(step, withoutSpeaker(step.copy, closed), turn))
  next.usage = withTurnUsage(next.usage, turn.usage)
  if (next.turn === id) delete next.turn
  return next
}

function withTurn({ copy, limits }: Step, transcript: Transcript, turn: TranscriptTurn): Transcript {
  const next = copy(transcript)
  const turns = copy(transcript.turns)
  const place = placeOf(transcript, turn.id)
  if (place < 0) turns.push(turn)
  else turns[place] = turn
  while (turns.length > limits.maxTurns) {
    turns.shift()
    next.droppedTurns += 1
  }
  next.turns = turns
  return next
}

/** Almost always the last one. */
function placeOf({ turns }: Transcript, id: string): number {
  return turns.findLastIndex((turn) => turn.id === id)
}

function endOf(data: Fields) {
  return present({
    outcome: outcomeIn(data),
    stopReason: nameIn(data, 'stopReason'),
    durationMs: numberIn(data, 'durationMs'),
    usage: usageOf(data),
    modelError: modelErrorOf(fieldsIn(data, 'modelError')),
    errorType: nameIn(data, 'errorType'),
    errorCode: nameIn(data, 'errorCode'),
    errorMessage: nameIn({ message: longTextIn(data, 'errorMessage') }, 'message'),
  })
}

function modelErrorOf(said: Fields): ModelErrorSign | undefined {
  const sign = signs.find((one) => one === said.sign)
  return sign && { sign, ...present({ text: nameIn(said, 'text') }) }
}
