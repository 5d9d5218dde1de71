import type { JournalEvent } from '@vitrine/protocol'
import { asFields, countIn, type Fields, present } from '../fields.ts'
import { momentOf } from '../moment.ts'
import { subjectOf } from '../subject.ts'
import { wideEntryOf, withWideEntry } from '../wide-table.ts'
import { bounded, nameIn, sizeOf } from './bounded.ts'
import { transcriptEntry, withTold } from './entries.ts'
import { newEntry, type Step, turnOf } from './step.ts'
import { toolContentOf } from './tool-content.ts'
import type { Transcript, TranscriptToolCall } from './transcript.ts'

/**
 * A status only ever goes up this ladder, so a late `pending` changes nothing. `unfinished` and `cancelled` are
 * what we conclude at the end of a turn, so the agent's own last word may still replace them; the first of its
 * last words stays.
 */
const ladder = { pending: 0, in_progress: 1, unfinished: 2, cancelled: 2, completed: 3, failed: 3 } as const

/** `unfinished`: its turn ended well, and nobody said how the call did. */
export type ToolCallStatus = keyof typeof ladder

const spokenStatuses = ['pending', 'in_progress', 'completed', 'failed', 'cancelled'] as const

const maxLocations = 50

/**
 * What an agent says of a tool call, in whatever order: agents update before they create, and ask for permission
 * before either. `begins` is said of a notice that only ever comes first in its turn.
 */
export function toolCallTold(
  step: Step,
  transcript: Transcript,
  told: Fields,
  notice: 'begins' | 'goes on',
): Transcript {
  const toolCallId = nameIn(told, 'toolCallId')
  if (toolCallId === undefined) return transcript
  const status = spokenStatuses.find((one) => one === told.status)
  const known = newestCall(transcript, toolCallId)
  if (known !== undefined && !isAnother(known, turnOf(step.event, transcript), notice, status)) {
    return withTold(step, transcript, withStatus(updated(step, known, told), status, step.event))
  }
  const { seq } = step.event
  const id = freeId(transcript, known === undefined ? toolCallId : `${toolCallId}:${seq}`, seq)
  const call: TranscriptToolCall = {
    kind: 'toolCall',
    toolCallId,
    status: 'pending',
    ...newEntry(step, transcript, id),
  }
  const next = step.copy(
    withTold(step, transcript, withStatus(updated(step, call, told), status, step.event)),
  )
  if (id !== toolCallId) next.reused = withWideEntry(step.copy, next.reused, toolCallId, id)
  return next
}

/** Ends the calls that the host says it closed. */
export function withCallsClosed(
  step: Step,
  transcript: Transcript,
  toolCallIds: readonly string[],
): Transcript {
  return toolCallIds.reduce((before, toolCallId) => {
    const call = newestCall(before, toolCallId)
    return call === undefined ? before : withEnd(step, before, call, 'cancelled')
  }, transcript)
}

/** Ends what is still open of a turn, or of the time since the last one. */
export function withTurnClosed(
  step: Step,
  transcript: Transcript,
  turn: string | undefined,
  status: 'cancelled' | 'unfinished',
): Transcript {
  let next = transcript
  for (let place = transcript.entries.length - 1; place >= 0; place -= 1) {
    const ref = transcript.entries[place]
    const entry = ref && transcriptEntry(transcript, ref)
    if (entry === undefined || entry.turn !== turn) break
    if (entry.kind === 'toolCall') next = withEnd(step, next, entry, status)
  }
  return next
}

/** The call that an agent means by its id. */
export function newestCall(transcript: Transcript, toolCallId: string): TranscriptToolCall | undefined {
  const id = wideEntryOf(transcript.reused, toolCallId) ?? toolCallId
  const call = wideEntryOf(transcript.toolCalls, id)
  return call?.toolCallId === toolCallId ? call : undefined
}

export function isOver(status: ToolCallStatus): boolean {
  return ladder[status] > ladder.in_progress
}

/**
 * Whether an id that a finished call had is used again, which only happens in a later turn. An update that comes
 * first says so only if the agent itself had ended that call: one that we ended may go on all the same.
 */
function isAnother(
  known: TranscriptToolCall,
  turn: string | undefined,
  notice: 'begins' | 'goes on',
  status: ToolCallStatus | undefined,
): boolean {
  if (!isOver(known.status) || turn === undefined || known.turn === turn) return false
  if (notice === 'begins') return true
  return status !== undefined && !isOver(status) && ladder[known.status] === ladder.completed
}

function withEnd(
  step: Step,
  transcript: Transcript,
  call: TranscriptToolCall,
  status: ToolCallStatus,
): Transcript {
  if (isOver(call.status)) return transcript
  const ended = withStatus(call, status, step.event)
  return withTold(step, transcript, { ...ended, changedAt: momentOf(step.event) })
}

function withStatus(
  call: TranscriptToolCall,
  status: ToolCallStatus | undefined,
  event: JournalEvent,
): TranscriptToolCall {
  if (status === undefined || ladder[status] <= ladder[call.status]) return call
  return { ...call, status, ...(isOver(status) && { endedAt: momentOf(event) }) }
}

function freeId(transcript: Transcript, wanted: string, seq: number): string {
  let id = wanted
  while (wideEntryOf(transcript.toolCalls, id) !== undefined) id = `${id}:${seq}`
  return id
}

/** Each field that is told replaces the one before, as the protocol has it. */
function updated({ event, limits }: Step, call: TranscriptToolCall, told: Fields): TranscriptToolCall {
  const input = rawPart(told.rawInput, limits.maxEntryChars)
  const output = rawPart(told.rawOutput, limits.maxEntryChars)
  const shown = toolContentOf(told.content, Math.floor(limits.maxEntryChars / 2))
  const next: TranscriptToolCall = {
    ...call,
    ...present({
      title: nameIn(told, 'title'),
      name: nameIn(told, 'name'),
      toolKind: nameIn(told, 'kind'),
      locations: locationsOf(told.locations),
      input: input?.value,
      output: output?.value,
      content: shown?.content,
    }),
    ...((input?.cut || output?.cut || shown?.cut) && { cut: true }),
    changedAt: momentOf(event),
  }
  const subject = subjectOf(asFields(next.input)) ?? next.locations?.[0]?.path ?? next.content?.diffs[0]?.path
  return {
    ...next,
    ...present({ subject: nameIn({ subject }, 'subject') }),
    // Only what was replaced is measured, or every update would cost as much as the whole call.
    chars:
      call.chars +
      growth(call.input, next.input) +
      growth(call.output, next.output) +
      growth(call.content, next.content),
  }
}

function rawPart(value: unknown, max: number) {
  return value === undefined || value === null ? undefined : bounded(value, Math.floor(max / 4))
}

function growth(before: unknown, after: unknown): number {
  return before === after ? 0 : sizeOf(after) - sizeOf(before)
}

function locationsOf(value: unknown): TranscriptToolCall['locations'] {
  if (!Array.isArray(value)) return undefined
  return value.slice(0, maxLocations).flatMap((one) => {
    const path = nameIn(asFields(one), 'path')
    return path === undefined ? [] : [{ path, ...present({ line: countIn(asFields(one), 'line') }) }]
  })
}
