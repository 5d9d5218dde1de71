import { byteLength } from '../../byte-length.ts'
import { fieldsIn, textIn, textsIn } from '../../fields.ts'
import { sizeText } from '../size.ts'
import { endedByText, endingText, endingTone } from './ending.ts'
import { envelopeText } from './envelope.ts'
import { type Summary, say } from './event-summary.ts'
import { longTextIn } from './long-text.ts'

export const agentSummaries = {
  'agent.installed': (data) => say('good', textIn(data, 'agent'), textIn(data, 'version')),
  'agent.started': (data) =>
    say('accent', textIn(data, 'agent'), textIn(data, 'instance'), grantText(textsIn(data, 'credentials'))),
  'agent.message': (data) =>
    say(
      'error' in fieldsIn(data, 'message') ? 'bad' : 'plain',
      textIn(data, 'direction') === 'in' ? '→ agent' : '← agent',
      data.replay === true ? '(again)' : undefined,
      envelopeText(fieldsIn(data, 'message')),
    ),
  'agent.unparsed': (data) =>
    say(
      'warn',
      textIn(data, 'encoding') === 'base64'
        ? `(${sizeText(byteLength(data))} that are not text)`
        : longTextIn(data, 'data'),
    ),
  'agent.exited': (data) => say(endingTone(data), textIn(data, 'agent'), endingText(data), endedByText(data)),
} satisfies Record<string, Summary>

function grantText(names: readonly string[] | undefined): string | undefined {
  return names?.length ? `with ${names.join(', ')}` : undefined
}
