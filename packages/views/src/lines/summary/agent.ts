import { byteLength } from '../../byte-length.ts'
import { fieldsIn, textIn, textsIn } from '../../fields.ts'
import { longTextIn } from '../../text/long-text.ts'
import { sizeText } from '../../text/size.ts'
import { endedByText, endingText, endingTone } from './ending.ts'
import { envelopeText } from './envelope.ts'
import { type Summarizer, summarize } from './event-summary.ts'

export const agentSummaries = {
  'agent.installed': (data) => summarize('good', textIn(data, 'agent'), textIn(data, 'version')),
  'agent.started': (data) =>
    summarize(
      'accent',
      textIn(data, 'agent'),
      textIn(data, 'instance'),
      grantText(textsIn(data, 'credentials')),
    ),
  'agent.message': (data) =>
    summarize(
      'error' in fieldsIn(data, 'message') ? 'bad' : 'plain',
      textIn(data, 'direction') === 'in' ? '→ agent' : '← agent',
      data.replay === true ? '(replay)' : undefined,
      envelopeText(fieldsIn(data, 'message')),
    ),
  'agent.unparsed': (data) =>
    summarize(
      'warn',
      textIn(data, 'encoding') === 'base64'
        ? `(${sizeText(byteLength(data))} that are not text)`
        : longTextIn(data, 'data'),
    ),
  'agent.exited': (data) =>
    summarize(endingTone(data), textIn(data, 'agent'), endingText(data), endedByText(data)),
} satisfies Record<string, Summarizer>

function grantText(names: readonly string[] | undefined): string | undefined {
  return names?.length ? `with ${names.join(', ')}` : undefined
}
