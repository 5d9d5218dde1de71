import { asFields, type Fields, fieldsIn, omitUndefined, outcomeIn } from '../fields.ts'
import { momentOf } from '../moment.ts'
import { wideEntryOf } from '../wide-table.ts'
import { type Bounded, bounded, nameIn, sizeOf } from './bounded.ts'
import { withTranscriptEntry } from './entries.ts'
import { newEntry, type TranscriptStep } from './step.ts'
import { applyToolCall, newestCall } from './tool-calls.ts'
import type { Transcript, TranscriptPermission, TranscriptQuestion } from './transcript.ts'

const maxOptions = 50
const modes = ['form', 'url'] as const
const actions = ['accept', 'decline', 'cancel'] as const

/** Only the first request and the first answer of an id count; an answer without a request also makes an entry. */
export function applyPermissionRequested(step: TranscriptStep, transcript: Transcript): Transcript {
  const data = asFields(step.event.data)
  const id = nameIn(data, 'permission')
  if (id === undefined || wideEntryOf(transcript.permissions, id) !== undefined) return transcript
  const toolCall = fieldsIn(data, 'toolCall')
  const next = applyToolCall(step, transcript, toolCall, 'start')
  const toolCallId = nameIn(toolCall, 'toolCallId')
  return withTranscriptEntry(step, next, {
    ...emptyPermission(step, next, id),
    ...omitUndefined({
      toolCall: toolCallId === undefined ? undefined : newestCall(next, toolCallId)?.id,
      title: nameIn(toolCall, 'title'),
    }),
    options: optionsOf(data.options),
  })
}

export function applyPermissionResolved(step: TranscriptStep, transcript: Transcript): Transcript {
  const data = asFields(step.event.data)
  const id = nameIn(data, 'permission')
  if (id === undefined) return transcript
  const known = wideEntryOf(transcript.permissions, id) ?? emptyPermission(step, transcript, id)
  if (known.resolvedAt !== undefined) return transcript
  return withTranscriptEntry(step, transcript, {
    ...known,
    ...omitUndefined({ answer: nameIn(data, 'answer'), option: nameIn(data, 'option') }),
    ...resolution(step, data),
  })
}

export function applyQuestionRequested(step: TranscriptStep, transcript: Transcript): Transcript {
  const data = asFields(step.event.data)
  const id = nameIn(data, 'question')
  if (id === undefined || wideEntryOf(transcript.questions, id) !== undefined) return transcript
  const message = boundedHalf(step, data.message)
  const schema = boundedHalf(step, data.schema)
  return withTranscriptEntry(step, transcript, {
    ...emptyQuestion(step, transcript, id),
    ...omitUndefined({
      message: typeof message?.value === 'string' ? message.value : undefined,
      mode: modes.find((mode) => mode === data.mode),
      schema: schema?.value,
      url: nameIn(data, 'url'),
    }),
    chars: sizeOf(message?.value) + sizeOf(schema?.value),
    ...((message?.cut || schema?.cut) && { cut: true }),
  })
}

export function applyQuestionResolved(step: TranscriptStep, transcript: Transcript): Transcript {
  const data = asFields(step.event.data)
  const id = nameIn(data, 'question')
  if (id === undefined) return transcript
  const known = wideEntryOf(transcript.questions, id) ?? emptyQuestion(step, transcript, id)
  if (known.resolvedAt !== undefined) return transcript
  const content = boundedHalf(step, data.content)
  return withTranscriptEntry(step, transcript, {
    ...known,
    ...omitUndefined({ action: actions.find((action) => action === data.action), content: content?.value }),
    ...resolution(step, data),
    chars: known.chars + sizeOf(content?.value),
    ...(content?.cut && { cut: true }),
  })
}

function emptyPermission(step: TranscriptStep, transcript: Transcript, id: string): TranscriptPermission {
  return { kind: 'permission', ...newEntry(step, transcript, id), options: [] }
}

function emptyQuestion(step: TranscriptStep, transcript: Transcript, id: string): TranscriptQuestion {
  return { kind: 'question', ...newEntry(step, transcript, id) }
}

function resolution({ event }: TranscriptStep, data: Fields) {
  const now = momentOf(event)
  return {
    ...omitUndefined({ outcome: outcomeIn(data), by: nameIn(data, 'by') }),
    changedAt: now,
    resolvedAt: now,
  }
}

function boundedHalf({ limits }: TranscriptStep, value: unknown): Bounded | undefined {
  return value === undefined || value === null
    ? undefined
    : bounded(value, Math.floor(limits.maxEntryChars / 2))
}

function optionsOf(value: unknown): TranscriptPermission['options'] {
  if (!Array.isArray(value)) return []
  return value.slice(0, maxOptions).flatMap((one) => {
    const option = asFields(one)
    const id = nameIn(option, 'id')
    return id === undefined
      ? []
      : [{ id, ...omitUndefined({ name: nameIn(option, 'name'), kind: nameIn(option, 'kind') }) }]
  })
}
