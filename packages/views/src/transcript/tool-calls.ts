import type { JournalEvent } from '@vitrine/protocol'
import { asFields, countIn, type Fields, omitUndefined } from '../fields.ts'
import { momentOf } from '../moment.ts'
import { subjectOf } from '../subject.ts'
import { wideEntryOf, withWideEntry } from '../wide-table.ts'
import { bounded, nameIn, sizeOf } from './bounded.ts'
import { transcriptEntry, withTranscriptEntry } from './entries.ts'
import { newEntry, type TranscriptStep, turnOf } from './step.ts'
import { toolContentOf } from './tool-content.ts'
import type { Transcript, TranscriptToolCall } from './transcript.ts'

/**
 * A status can only be replaced by one of a higher rank, so a late `pending` changes nothing. The view sets
 * `unfinished` and `cancelled` at the end of a turn; a final status from the agent may still replace them, and the
 * first final status stays.
 */
const statusRank = {
  pending: 0,
  in_progress: 1,
  unfinished: 2,
  cancelled: 2,
  completed: 3,
  failed: 3,
} as const

/** `unfinished`: its turn ended with `ok`, but the agent reported no final status of the call. */
export type ToolCallStatus = keyof typeof statusRank

const reportedStatuses = ['pending', 'in_progress', 'completed', 'failed', 'cancelled'] as const

const maxLocations = 50

/**
 * Applies an agent's message about a tool call. Messages may come in any order: some agents send an update before the
 * call, or a permission request before either. `start` is a notice that is always the first for a call in its turn.
 */
export function applyToolCall(
  step: TranscriptStep,
  transcript: Transcript,
  update: Fields,
  notice: 'start' | 'update',
): Transcript {
  const toolCallId = nameIn(update, 'toolCallId')
  if (toolCallId === undefined) return transcript
  const status = reportedStatuses.find((one) => one === update.status)
  const known = newestCall(transcript, toolCallId)
  if (known !== undefined && !isNewCall(known, turnOf(step.event, transcript), notice, status)) {
    return withTranscriptEntry(
      step,
      transcript,
      withStatus(updateCall(step, known, update), status, step.event),
    )
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
    withTranscriptEntry(step, transcript, withStatus(updateCall(step, call, update), status, step.event)),
  )
  if (id !== toolCallId) next.reused = withWideEntry(step.copy, next.reused, toolCallId, id)
  return next
}

/** Ends the calls that the host reports as closed. */
export function withCallsClosed(
  step: TranscriptStep,
  transcript: Transcript,
  toolCallIds: readonly string[],
): Transcript {
  return toolCallIds.reduce((before, toolCallId) => {
    const call = newestCall(before, toolCallId)
    return call === undefined ? before : withEnd(step, before, call, 'cancelled')
  }, transcript)
}

/** Ends the open calls of a turn, or of the entries since the last turn. */
export function withTurnClosed(
  step: TranscriptStep,
  transcript: Transcript,
  turn: string | undefined,
  status: 'cancelled' | 'unfinished',
): Transcript {
  let next = transcript
  for (let index = transcript.entries.length - 1; index >= 0; index -= 1) {
    const ref = transcript.entries[index]
    const entry = ref && transcriptEntry(transcript, ref)
    if (entry === undefined || entry.turn !== turn) break
    if (entry.kind === 'toolCall') next = withEnd(step, next, entry, status)
  }
  return next
}

/** The latest call with an agent's tool call id. */
export function newestCall(transcript: Transcript, toolCallId: string): TranscriptToolCall | undefined {
  const id = wideEntryOf(transcript.reused, toolCallId) ?? toolCallId
  const call = wideEntryOf(transcript.toolCalls, id)
  return call?.toolCallId === toolCallId ? call : undefined
}

export function hasEnded(status: ToolCallStatus): boolean {
  return statusRank[status] > statusRank.in_progress
}

/**
 * Whether the agent reuses the id of an ended call for a new one, which only happens in a later turn. An update means a
 * new call only if the agent itself had ended the old one: a call that the view ended may still continue.
 */
function isNewCall(
  known: TranscriptToolCall,
  turn: string | undefined,
  notice: 'start' | 'update',
  status: ToolCallStatus | undefined,
): boolean {
  if (!hasEnded(known.status) || turn === undefined || known.turn === turn) return false
  if (notice === 'start') return true
  return status !== undefined && !hasEnded(status) && statusRank[known.status] === statusRank.completed
}

function withEnd(
  step: TranscriptStep,
  transcript: Transcript,
  call: TranscriptToolCall,
  status: ToolCallStatus,
): Transcript {
  if (hasEnded(call.status)) return transcript
  const ended = withStatus(call, status, step.event)
  return withTranscriptEntry(step, transcript, { ...ended, changedAt: momentOf(step.event) })
}

function withStatus(
  call: TranscriptToolCall,
  status: ToolCallStatus | undefined,
  event: JournalEvent,
): TranscriptToolCall {
  if (status === undefined || statusRank[status] <= statusRank[call.status]) return call
  return { ...call, status, ...(hasEnded(status) && { endedAt: momentOf(event) }) }
}

function freeId(transcript: Transcript, preferred: string, seq: number): string {
  let id = preferred
  while (wideEntryOf(transcript.toolCalls, id) !== undefined) id = `${id}:${seq}`
  return id
}

/** Replaces each field that the update contains, as the protocol defines it. */
function updateCall(
  { event, limits }: TranscriptStep,
  call: TranscriptToolCall,
  update: Fields,
): TranscriptToolCall {
  const input = rawPart(update.rawInput, limits.maxEntryChars)
  const output = rawPart(update.rawOutput, limits.maxEntryChars)
  const shown = toolContentOf(update.content, Math.floor(limits.maxEntryChars / 2))
  const next: TranscriptToolCall = {
    ...call,
    ...omitUndefined({
      title: nameIn(update, 'title'),
      name: nameIn(update, 'name'),
      toolKind: nameIn(update, 'kind'),
      locations: locationsOf(update.locations),
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
    ...omitUndefined({ subject: nameIn({ subject }, 'subject') }),
    // Measures only replaced fields; otherwise every update would cost as much as the whole call.
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
    return path === undefined ? [] : [{ path, ...omitUndefined({ line: countIn(asFields(one), 'line') }) }]
  })
}
