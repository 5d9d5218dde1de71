import { type Fields, fieldsIn, numberIn, textIn } from '../../fields.ts'
import { attachmentText, contentOf } from '../../transcript/content.ts'
import { compact } from './compact.ts'
import { endedByText, endingText, endingTone, errorText } from './ending.ts'
import { type Summarizer, summarize } from './event-summary.ts'

export const sessionSummaries = {
  'session.created': (data, event) =>
    summarize('accent', textIn(data, 'agent'), event.session, forkText(textIn(data, 'forkedFrom'))),
  'session.updated': (data, event) => summarize('dim', event.session, compact(data)),
  'session.closed': (data, event) =>
    summarize(
      errorText(data) === undefined ? 'plain' : 'bad',
      event.session,
      textIn(data, 'reason'),
      endingText(data),
      endedByText(data),
    ),
  'prompt.queued': (data, event) =>
    summarize('dim', event.turn, positionText(numberIn(data, 'position')), promptText(data.prompt)),
  'prompt.dropped': (data, event) =>
    summarize('warn', event.turn, textIn(data, 'reason'), errorText(data), promptText(data.prompt)),
  'turn.started': (data, event) => summarize('accent', turnText(data, event.turn), promptText(data.prompt)),
  'turn.finished': (data, event) =>
    summarize(
      'modelError' in data ? 'bad' : endingTone(data),
      turnText(data, event.turn),
      textIn(data, 'stopReason'),
      endingText(data),
      modelErrorText(data),
    ),
  'permission.requested': (data) => summarize('accent', textIn(data, 'permission'), titleText(data)),
  'permission.resolved': (data) =>
    summarize(
      endingTone(data),
      textIn(data, 'permission'),
      textIn(data, 'answer'),
      endingText(data),
      byText(data),
    ),
  'question.requested': (data) => summarize('accent', textIn(data, 'question'), titleText(data)),
  'question.resolved': (data) =>
    summarize(
      endingTone(data),
      textIn(data, 'question'),
      textIn(data, 'action'),
      endingText(data),
      byText(data),
    ),
} satisfies Record<string, Summarizer>

function turnText(data: Fields, turn: string | undefined): string | undefined {
  const index = numberIn(data, 'index')
  return index === undefined ? turn : `${turn ?? 'turn'} (${index})`
}

function positionText(position: number | undefined): string | undefined {
  return position === undefined
    ? undefined
    : position === 0
      ? 'waits for its agent'
      : `waits behind ${position}`
}

function promptText(prompt: unknown): string {
  const { text, attachments } = contentOf(prompt)
  return [text, ...attachments.map(attachmentText)].filter(Boolean).join(' ')
}

function modelErrorText(data: Fields): string | undefined {
  if (!('modelError' in data)) return undefined
  const text = textIn(fieldsIn(data, 'modelError'), 'text')
  return text === undefined ? 'the model failed' : `the model failed: ${text}`
}

function forkText(from: string | undefined): string | undefined {
  return from === undefined ? undefined : `forked from ${from}`
}

function byText(data: Fields): string | undefined {
  const by = textIn(data, 'by')
  return by === undefined ? undefined : `by ${by}`
}

/** The title or message of a request, if the event has one. */
function titleText(data: Fields): string | undefined {
  return textIn(data, 'title') ?? textIn(fieldsIn(data, 'toolCall'), 'title') ?? textIn(data, 'message')
}
