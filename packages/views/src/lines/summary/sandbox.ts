import { textIn } from '../../fields.ts'
import { errorText } from './ending.ts'
import { type Summary, say } from './event-summary.ts'

export const sandboxSummaries = {
  'sandbox.created': (data, event) =>
    say('plain', event.sandbox, textIn(data, 'provider'), textIn(data, 'root')),
  'sandbox.ready': (_data, event) => say('good', event.sandbox),
  'sandbox.degraded': (data) => say('warn', `${textIn(data, 'what') ?? ''}:`, textIn(data, 'reason')),
  'sandbox.paused': (_data, event) => say('plain', event.sandbox),
  'sandbox.resumed': (_data, event) => say('plain', event.sandbox),
  'sandbox.stopped': (data, event) => say('plain', event.sandbox, textIn(data, 'reason')),
  'sandbox.destroyed': (data, event) => say('plain', event.sandbox, textIn(data, 'reason')),
  'sandbox.failed': (data, event) => say('bad', event.sandbox, errorText(data)),
} satisfies Record<string, Summary>
