import { randomUUID } from 'node:crypto'
import {
  type AgentRequestContext,
  type ClientCapabilities,
  type PromptRequest,
  type PromptResponse,
  RequestError,
  type Usage,
} from '@agentclientprotocol/sdk/unstable'
import { addToHistory } from './history.ts'
import { respond } from './respond.ts'
import type { DemoSession } from './session.ts'
import type { DemoSettings } from './settings.ts'
import { failOpenTools } from './tool-call.ts'
import { Turn } from './turn.ts'
import { simulatedUsage } from './usage.ts'
import type { DemoConnection } from './wire.ts'

export interface PromptEnvironment {
  readonly session: DemoSession
  readonly clientCapabilities: ClientCapabilities
  readonly settings: DemoSettings
  readonly wire: DemoConnection
  /** Writes the session to disk. */
  readonly save: () => void
}

/** Runs a turn. A cancelled turn gets a response too, and leaves no tool call open. */
export async function runPrompt(
  { params, client, signal, requestId }: AgentRequestContext<PromptRequest>,
  { session, clientCapabilities, settings, wire, save }: PromptEnvironment,
): Promise<PromptResponse> {
  if (session.running !== undefined) throw RequestError.invalidRequest(undefined, 'a turn is already running')
  const stopping = new AbortController()
  const turn = new Turn({
    session,
    client,
    clientCapabilities,
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
    addToHistory(session.history, { sessionUpdate: 'user_message_chunk', content, messageId })
  }
  save()
  let usage: Usage
  try {
    await respond(turn)
  } catch (error) {
    if (!turn.signal.aborted) throw error
    turn.stopReason = 'cancelled'
  } finally {
    await failOpenTools(turn).catch(() => {})
    usage = simulatedUsage(turn)
    session.tokens = usage.totalTokens
    session.running = undefined
    save()
  }
  const response: PromptResponse = { stopReason: turn.stopReason, usage }
  if (turn.respondTwice) {
    await wire.write(`${JSON.stringify({ jsonrpc: '2.0', id: requestId, result: response })}\n`)
  }
  return response
}
