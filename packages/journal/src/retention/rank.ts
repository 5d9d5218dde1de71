import { matchTypes } from '@vitrine/protocol'

const isOutput = matchTypes(['process.output', 'agent.unparsed'])
const isAudit = matchTypes(['operation.*', 'permission.*', 'session.*', 'turn.*', 'journal.*'])

/** What goes first when there is no room: output, then the rest, and last what an audit needs. */
export function rankOf(type: string): 0 | 1 | 2 {
  if (isOutput(type)) return 0
  return isAudit(type) ? 2 : 1
}
