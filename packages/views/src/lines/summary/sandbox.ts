import { textIn } from '../../fields.ts'
import { errorText } from './ending.ts'
import { type Summarizer, summarize } from './event-summary.ts'

export const sandboxSummaries = {
  'sandbox.created': (data, event) =>
    summarize('plain', event.sandbox, textIn(data, 'provider'), textIn(data, 'root')),
  'sandbox.ready': (_data, event) => summarize('good', event.sandbox),
  'sandbox.degraded': (data) =>
    summarize('warn', `${textIn(data, 'feature') ?? ''}:`, textIn(data, 'reason')),
  'sandbox.paused': (_data, event) => summarize('plain', event.sandbox),
  'sandbox.resumed': (_data, event) => summarize('plain', event.sandbox),
  'sandbox.stopped': (data, event) => summarize('plain', event.sandbox, textIn(data, 'reason')),
  'sandbox.destroyed': (data, event) => summarize('plain', event.sandbox, textIn(data, 'reason')),
  'sandbox.failed': (data, event) => summarize('bad', event.sandbox, errorText(data)),
} satisfies Record<string, Summarizer>
