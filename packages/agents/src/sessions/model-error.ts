import type { ModelErrorSign } from '@vitrine/protocol'
import type { AgentQuirks } from '../registry/entry.ts'

const maxText = 500
/** The common form of model errors; other forms are in `quirks.errorMessage` of the agent's entry. */
const common = /^\s*(?:API )?Error: (?:\d{3}\b|API)|^\s*\{\s*"(?:error|type)"\s*:\s*(?:"error"|\{)/

/** Detects a model error that an agent reported as a message, or not at all, in a turn that ended with `end_turn`. */
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
