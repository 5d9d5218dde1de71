import type { JournalEvent, QueuedPrompt, WaitingRequest } from '@vitrine/protocol'
import { asFields, type Fields, fieldsIn, idIn, omitUndefined, textIn } from '../fields.ts'
import { momentOf } from '../moment.ts'
import { subjectOf } from '../subject.ts'
import { cut } from '../text/cut.ts'
import { contentOf } from '../transcript/content.ts'

const maxText = 200

/** Adds the request of a `permission.requested` or `question.requested`; removes that of a `…resolved`. */
export function withRequest<Request extends WaitingRequest>(
  waiting: readonly Request[],
  event: JournalEvent,
  complete: (request: WaitingRequest) => Request,
): readonly Request[] {
  const kind = event.type.startsWith('permission.') ? 'permission' : 'question'
  const data = asFields(event.data)
  const id = idIn(data, kind)
  if (id === undefined) return waiting
  const index = waiting.findIndex((one) => one.kind === kind && one.id === id)
  if (!event.type.endsWith('.requested')) return index < 0 ? waiting : waiting.toSpliced(index, 1)
  if (index >= 0) return waiting
  const text = shortText(
    kind === 'permission' ? askedBy(fieldsIn(data, 'toolCall')) : textIn(data, 'message'),
  )
  return [
    ...waiting,
    complete({ kind, id, since: momentOf(event), ...omitUndefined({ turn: event.turn || undefined, text }) }),
  ]
}

function askedBy(toolCall: Fields): string | undefined {
  return idIn(toolCall, 'title') ?? subjectOf(fieldsIn(toolCall, 'rawInput'))
}

/** Adds the prompt of a `prompt.queued`. */
export function withQueued(queued: readonly QueuedPrompt[], event: JournalEvent): readonly QueuedPrompt[] {
  const { turn } = event
  if (!turn || queued.some((one) => one.turn === turn)) return queued
  const text = shortText(contentOf(asFields(event.data).prompt).text)
  return [...queued, { turn, since: momentOf(event), ...omitUndefined({ text }) }]
}

export function withoutQueued(queued: readonly QueuedPrompt[], turn: string): readonly QueuedPrompt[] {
  const index = queued.findIndex((one) => one.turn === turn)
  return index < 0 ? queued : queued.toSpliced(index, 1)
}

function shortText(text: string | undefined): string | undefined {
  return text ? cut(text, maxText) : undefined
}
