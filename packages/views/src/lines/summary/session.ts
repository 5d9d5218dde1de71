import { type Fields, fieldsIn, numberIn, textIn } from '../../fields.ts'
import { compact } from './compact.ts'
import { endingText, endingTone } from './ending.ts'
import { type Summary, say } from './said.ts'

export const sessionSummaries = {
  'session.created': (data, event) => say('accent', textIn(data, 'agent'), event.session),
  'session.updated': (data, event) => say('dim', event.session, compact(data)),
  'session.closed': (data, event) => say('plain', event.session, textIn(data, 'reason')),
  'turn.started': (data, event) => say('accent', turnText(data, event.turn)),
  'turn.finished': (data, event) =>
    say(endingTone(data), turnText(data, event.turn), textIn(data, 'stopReason'), endingText(data)),
  'permission.requested': (data) => say('accent', textIn(data, 'permission'), titleText(data)),
  'permission.resolved': (data) =>
    say(endingTone(data), textIn(data, 'permission'), textIn(data, 'answer'), endingText(data)),
  'question.requested': (data) => say('accent', textIn(data, 'question'), titleText(data)),
  'question.resolved': (data) => say(endingTone(data), textIn(data, 'question'), endingText(data)),
} satisfies Record<string, Summary>

function turnText(data: Fields, turn: string | undefined): string | undefined {
  const index = numberIn(data, 'index')
  return index === undefined ? turn : `${turn ?? 'turn'} (${index})`
}

/** What the agent says it asks for, where the event carries it. */
function titleText(data: Fields): string | undefined {
  return textIn(data, 'title') ?? textIn(fieldsIn(data, 'toolCall'), 'title') ?? textIn(data, 'message')
}
