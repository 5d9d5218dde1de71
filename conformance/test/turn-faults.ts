import {
  isVitrineError,
  type JournalEvent,
  type JournalItem,
  type PromptResult,
  type VitrineError,
} from '@vitrine/protocol'
import { eventsOf } from '../src/events/coverage.ts'

/** The result or the error of one call of `prompt`. */
export interface PromptedResult {
  readonly turn: string
  readonly result?: PromptResult
  readonly error?: unknown
}

/** A recovered end of other work may follow that of its turn. */
const withinTurn = /^(agent|file)\./

/** Codes of prompts that were refused and left no record. */
const refusals = ['session_queue_full', 'session_closed', 'session_not_found', 'turn_exists']

/**
 * The laws of turns: one start and one end for each, one turn of a session at a time, a turn's messages and file changes
 * within it, an end for each queued prompt, and results that match the record.
 */
export function turnRecordFaults(
  items: readonly JournalItem[],
  results: readonly PromptedResult[],
): string[] {
  const events = eventsOf(items)
  return [...orderFaults(events), ...results.flatMap((one) => resultFaults(events, one))]
}

function orderFaults(events: readonly JournalEvent[]): string[] {
  const faults: string[] = []
  const waiting = new Set<string>()
  const running = new Map<string, string>()
  const ended = new Set<string>()
  for (const { type, seq, turn, session = '' } of events) {
    if (turn === undefined) continue
    const fault = (what: string) => faults.push(`${seq} ${type} of ${turn}: ${what}`)
    if (type === 'prompt.queued') {
      if (waiting.has(turn)) fault('it waits already')
      waiting.add(turn)
    } else if (type === 'prompt.dropped') {
      if (running.get(session) === turn || ended.has(turn)) fault('it has started')
      waiting.delete(turn)
    } else if (type === 'turn.started') {
      if (running.has(session)) fault(`${running.get(session)} runs`)
      if (ended.has(turn)) fault('it has run before')
      waiting.delete(turn)
      running.set(session, turn)
    } else if (type === 'turn.finished') {
      if (running.get(session) !== turn) fault('it does not run')
      running.delete(session)
      ended.add(turn)
    } else if (withinTurn.test(type) && running.get(session) !== turn) fault('it does not run')
  }
  for (const turn of waiting) faults.push(`${turn}: queued without an end`)
  for (const turn of running.values()) faults.push(`${turn}: started without an end`)
  return faults
}

function resultFaults(events: readonly JournalEvent[], { turn, result, error }: PromptedResult): string[] {
  const endings = events.filter((event) => event.turn === turn).flatMap(endingOf)
  const got = result === undefined ? codeOf(error) : result.outcome
  if (endings.includes(got) || (result === undefined && refusals.includes(got))) return []
  return [`${turn}: the caller got ${got}, the record has ${endings.join() || 'no end'}`]
}

/** The outcome or the error code that a caller gets from this end of a turn. */
function endingOf({ type, data }: JournalEvent): string[] {
  if (type === 'turn.finished') return [String(data.outcome === 'failed' ? data.errorCode : data.outcome)]
  if (type !== 'prompt.dropped') return []
  const code = data.reason === 'closed' ? 'session_closed' : (data.errorCode ?? data.reason)
  return [String(data.outcome ?? code)]
}

function codeOf(error: unknown): string {
  return isVitrineError(error) ? (error satisfies VitrineError).code : String(error)
}
