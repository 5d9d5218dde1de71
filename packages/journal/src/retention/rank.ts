import { matchTypes } from '@vitrine/protocol'

const isOutput = matchTypes(['process.output', 'agent.unparsed'])
const isAudit = matchTypes(['operation.*', 'permission.*', 'session.*', 'turn.*', 'journal.*'])

/** The order of removal by size limits: output first, then other events, and audit events last. */
export function rankOf(type: string): 0 | 1 | 2 {
  if (isOutput(type)) return 0
  return isAudit(type) ? 2 : 1
}
