import type { ModelErrorSign } from '@vitrine/protocol'
import type { AgentQuirks } from '../registry/entry.ts'

const maxText = 500
/** Errors of models look alike; what else one agent's look like is in its entry. */
const common = /^\s*(?:API )?Error: (?:\d{3}\b|API)|^\s*\{\s*"(?:error|type)"\s*:\s*(?:"error"|\{)/

/** What a turn that ended as if all was well may have hidden. */
export function modelErrorSign(
  quirks: Pick<AgentQuirks, 'errorMessage'>,
  turn: { readonly text: string; readonly updates: number; readonly stopReason: string | undefined },
): ModelErrorSign | undefined {
  if (turn.stopReason !== 'end_turn') return undefined
  const own = quirks.errorMessage === undefined ? undefined : new RegExp(quirks.errorMessage)
  const last = turn.text.trim()
  if (last !== '' && (common.test(last) || own?.test(last)))
    return { sign: 'message', text: last.slice(0, maxText) }
  return turn.updates === 0 ? { sign: 'silence' } : undefined
}
