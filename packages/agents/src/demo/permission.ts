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

export type PermissionVerdict = 'allow' | 'reject'

/** Decides about a tool call by the mode, an earlier answer for its kind, or a permission request. */
export async function permit(
  turn: Turn,
  toolCall: ToolCallUpdate,
  kind: ToolKind,
): Promise<PermissionVerdict> {
  if (turn.session.mode === 'auto') return 'allow'
  return (
    turn.session.rememberedAnswers.get(kind) ??
    (await requestPermission(turn, toolCall, kind, turn.session.id))
  )
}

/** Requests a permission in any mode, under any session id. */
export async function requestPermission(
  turn: Turn,
  toolCall: ToolCallUpdate,
  kind: ToolKind,
  sessionId: string,
): Promise<PermissionVerdict> {
  const outcome = await outcomeOf(turn, toolCall, sessionId)
  if (outcome === undefined) return 'reject'
  if (outcome.outcome === 'cancelled') return turn.cancel()
  const chosen = options.find(({ optionId }) => optionId === outcome.optionId)
  switch (chosen?.kind) {
    case 'allow_once':
      return 'allow'
    case 'allow_always':
      turn.session.rememberedAnswers.set(kind, 'allow')
      return 'allow'
    case 'reject_always':
      turn.session.rememberedAnswers.set(kind, 'reject')
      return 'reject'
    default:
      return 'reject'
  }
}

/** The client's answer; undefined when the client does not support permission requests. */
async function outcomeOf(turn: Turn, toolCall: ToolCallUpdate, sessionId: string) {
  try {
    const response = await turn.request('session/request_permission', {
      sessionId,
      toolCall,
      options: [...options],
    })
    return response.outcome
  } catch (error) {
    turn.signal.throwIfAborted()
    if (error instanceof RequestError) return undefined
    throw error
  }
}
