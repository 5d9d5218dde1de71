import { asFields, type Fields, fieldsIn, outcomeIn, present } from '../fields.ts'
import { momentOf } from '../moment.ts'
import { wideEntryOf } from '../wide-table.ts'
import { type Bounded, bounded, nameIn, sizeOf } from './bounded.ts'
import { withTold } from './entries.ts'
import { newEntry, type Step } from './step.ts'
import { newestCall, toolCallTold } from './tool-calls.ts'
import type { Transcript, TranscriptPermission, TranscriptQuestion } from './transcript.ts'

const maxOptions = 50
const modes = ['form', 'url'] as const
const actions = ['accept', 'decline', 'cancel'] as const

/** The first request of an id counts, and its first answer; an answer without its request is shown as well. */
export function permissionRequested(step: Step, transcript: Transcript): Transcript {
  const data = asFields(step.event.data)
  const id = nameIn(data, 'permission')
  if (id === undefined || wideEntryOf(transcript.permissions, id) !== undefined) return transcript
  const told = fieldsIn(data, 'toolCall')
  const next = toolCallTold(step, transcript, told, 'begins')
  const toolCallId = nameIn(told, 'toolCallId')
  return withTold(step, next, {
    ...emptyPermission(step, next, id),
    ...present({
      toolCall: toolCallId === undefined ? undefined : newestCall(next, toolCallId)?.id,
      title: nameIn(told, 'title'),
    }),
    options: optionsOf(data.options),
  })
}

export function permissionResolved(step: Step, transcript: Transcript): Transcript {
  const data = asFields(step.event.data)
  const id = nameIn(data, 'permission')
  if (id === undefined) return transcript
  const known = wideEntryOf(transcript.permissions, id) ?? emptyPermission(step, transcript, id)
  if (known.resolvedAt !== undefined) return transcript
  return withTold(step, transcript, {
    ...known,
    ...present({ answer: nameIn(data, 'answer'), option: nameIn(data, 'option') }),
    ...answered(step, data),
  })
}

export function questionRequested(step: Step, transcript: Transcript): Transcript {
  const data = asFields(step.event.data)
  const id = nameIn(data, 'question')
  if (id === undefined || wideEntryOf(transcript.questions, id) !== undefined) return transcript
  const message = half(step, data.message)
  const schema = half(step, data.schema)
  return withTold(step, transcript, {
    ...emptyQuestion(step, transcript, id),
    ...present({
      message: typeof message?.value === 'string' ? message.value : undefined,
      mode: modes.find((mode) => mode === data.mode),
      schema: schema?.value,
      url: nameIn(data, 'url'),
    }),
    chars: sizeOf(message?.value) + sizeOf(schema?.value),
    ...((message?.cut || schema?.cut) && { cut: true }),
  })
}

export function questionResolved(step: Step, transcript: Transcript): Transcript {
  const data = asFields(step.event.data)
  const id = nameIn(data, 'question')
  if (id === undefined) return transcript
  const known = wideEntryOf(transcript.questions, id) ?? emptyQuestion(step, transcript, id)
  if (known.resolvedAt !== undefined) return transcript
  const content = half(step, data.content)
  return withTold(step, transcript, {
    ...known,
    ...present({ action: actions.find((action) => action === data.action), content: content?.value }),
    ...answered(step, data),
    chars: known.chars + sizeOf(content?.value),
    ...(content?.cut && { cut: true }),
  })
}

function emptyPermission(step: Step, transcript: Transcript, id: string): TranscriptPermission {
  return { kind: 'permission', ...newEntry(step, transcript, id), options: [] }
}

function emptyQuestion(step: Step, transcript: Transcript, id: string): TranscriptQuestion {
  return { kind: 'question', ...newEntry(step, transcript, id) }
}

function answered({ event }: Step, data: Fields) {
  const now = momentOf(event)
  return { ...present({ outcome: outcomeIn(data), by: nameIn(data, 'by') }), changedAt: now, resolvedAt: now }
}

function half({ limits }: Step, value: unknown): Bounded | undefined {
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
      : [{ id, ...present({ name: nameIn(option, 'name'), kind: nameIn(option, 'kind') }) }]
  })
}
