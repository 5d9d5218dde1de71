import {
  type PermissionOption,
  RequestError,
  type ToolCallUpdate,
  type ToolKind,
} from '@agentclientprotocol/sdk/unstable'
import type { Turn } from './turn.ts'

const options = [
  { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
  { optionId: 'allow-always', name: 'Always allow', kind: 'allow_always' },
  { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
  { optionId: 'reject-always', name: 'Never allow', kind: 'reject_always' },
] as const satisfies readonly PermissionOption[]

export type Verdict = 'allow' | 'reject'

/** What the user says to this call; the mode or an earlier answer may have said it already. */
export async function permit(turn: Turn, toolCall: ToolCallUpdate, kind: ToolKind): Promise<Verdict> {
  if (turn.session.mode === 'auto') return 'allow'
  return turn.session.standing.get(kind) ?? (await ask(turn, toolCall, kind, turn.session.id))
}

/** Asks in any mode, in the name of any session. */
export async function ask(
  turn: Turn,
  toolCall: ToolCallUpdate,
  kind: ToolKind,
  sessionId: string,
): Promise<Verdict> {
  const outcome = await outcomeOf(turn, toolCall, sessionId)
  if (outcome === undefined) return 'reject'
  if (outcome.outcome === 'cancelled') return turn.cancel()
  const chosen = options.find(({ optionId }) => optionId === outcome.optionId)
  switch (chosen?.kind) {
    case 'allow_once':
      return 'allow'
    case 'allow_always':
      turn.session.standing.set(kind, 'allow')
      return 'allow'
    case 'reject_always':
      turn.session.standing.set(kind, 'reject')
      return 'reject'
    default:
      return 'reject'
  }
}

/** Nothing, when the client cannot be asked. */
async function outcomeOf(turn: Turn, toolCall: ToolCallUpdate, sessionId: string) {
  try {
    const answer = await turn.request('session/request_permission', {
      sessionId,
      toolCall,
      options: [...options],
    })
    return answer.outcome
  } catch (error) {
    turn.signal.throwIfAborted()
    if (error instanceof RequestError) return undefined
    throw error
  }
}
