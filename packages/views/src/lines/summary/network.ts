import { type Fields, numberIn, textIn } from '../../fields.ts'
import { type Summarizer, summarize } from './event-summary.ts'

export const networkSummaries = {
  'network.allowed': (data) => summarize('dim', addressText(data)),
  'network.failed': (data) => summarize('warn', addressText(data), textIn(data, 'error')),
  'network.refused': (data) => summarize('warn', addressText(data), textIn(data, 'reason')),
} satisfies Record<string, Summarizer>

function addressText(data: Fields): string {
  const host = textIn(data, 'host') ?? ''
  const port = numberIn(data, 'port')
  const name = host.includes(':') ? `[${host}]` : host
  return port === undefined ? name : `${name}:${port}`
}
