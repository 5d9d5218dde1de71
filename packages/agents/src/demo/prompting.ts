import { randomUUID } from 'node:crypto'
import {
  type AgentRequestContext,
  type ClientCapabilities,
  type PromptRequest,
  type PromptResponse,
  RequestError,
  type Usage,
} from '@agentclientprotocol/sdk/unstable'
import { answer } from './answer.ts'
import { remember } from './history.ts'
import type { DemoSession } from './session.ts'
import type { Settings } from './settings.ts'
import { failOpenTools } from './tool-call.ts'
import { Turn } from './turn.ts'
import { pretendUsage } from './usage.ts'
import type { Wire } from './wire.ts'

export interface Around {
  readonly session: DemoSession
  readonly offered: ClientCapabilities
  readonly settings: Settings
  readonly wire: Wire
  /** Puts the session on disk. */
  readonly keep: () => void
}

/** A turn from the prompt to its answer; a cancelled one is answered too, and leaves no tool call open. */
export async function runPrompt(
  { params, client, signal, requestId }: AgentRequestContext<PromptRequest>,
  { session, offered, settings, wire, keep }: Around,
): Promise<PromptResponse> {
  if (session.running !== undefined) throw RequestError.invalidRequest(undefined, 'a turn is running already')
  const stopping = new AbortController()
  const turn = new Turn({
    session,
    client,
    offered,
    settings,
    wire,
    requestId,
    prompt: params.prompt,
    stopping,
    signal: AbortSignal.any([stopping.signal, signal]),
  })
  session.running = stopping
  const messageId = randomUUID()
  for (const content of params.prompt) {
    remember(session.history, { sessionUpdate: 'user_message_chunk', content, messageId })
  }
  keep()
  let usage: Usage
  try {
    await answer(turn)
  } catch (error) {
    if (!turn.signal.aborted) throw error
    turn.stopReason = 'cancelled'
  } finally {
    await failOpenTools(turn).catch(() => {})
    usage = pretendUsage(turn)
    session.tokens = usage.totalTokens
    session.running = undefined
    keep()
  }
  const response: PromptResponse = { stopReason: turn.stopReason, usage }
  if (turn.answerTwice) {
    await wire.write(`${JSON.stringify({ jsonrpc: '2.0', id: requestId, result: response })}\n`)
  }
  return response
}
