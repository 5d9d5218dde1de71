import { type Fields, numberIn, textIn } from '../../fields.ts'
import { type Summary, say } from './event-summary.ts'

export const networkSummaries = {
  'network.allowed': (data) => say('dim', addressText(data)),
  'network.refused': (data) => say('warn', addressText(data), textIn(data, 'reason')),
} satisfies Record<string, Summary>

function addressText(data: Fields): string {
  const host = textIn(data, 'host') ?? ''
  const port = numberIn(data, 'port')
  const name = host.includes(':') ? `[${host}]` : host
  return port === undefined ? name : `${name}:${port}`
}
