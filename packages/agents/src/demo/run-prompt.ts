import { randomUUID } from 'node:crypto'
import {
  type AgentRequestContext,
  type ClientCapabilities,
  type PromptRequest,
  type PromptResponse,
  RequestError,
  type Usage,
} from '@agentclientprotocol/sdk/unstable'
import type { DemoConnection } from './connection.ts'
import { addToHistory } from './history.ts'
import { respond } from './respond.ts'
import type { DemoSession } from './session.ts'
import type { DemoSettings } from './settings.ts'
import { failOpenTools } from './tool-call.ts'
import { Turn } from './turn.ts'
import { simulatedUsage } from './usage.ts'

export interface PromptEnvironment {
  readonly session: DemoSession
  readonly clientCapabilities: ClientCapabilities
  readonly settings: DemoSettings
  readonly connection: DemoConnection
  /** Writes the session to disk. */
  readonly save: () => void
}

/** Runs a turn. A cancelled turn gets a response too, and leaves no tool call open. */
export async function runPrompt(
  { params, client, signal, requestId }: AgentRequestContext<PromptRequest>,
  { session, clientCapabilities, settings, connection, save }: PromptEnvironment,
): Promise<PromptResponse> {
  if (session.running !== undefined) throw RequestError.invalidRequest(undefined, 'a turn is already running')
  const cancellation = new AbortController()
  const turn = new Turn({
    session,
    client,
    clientCapabilities,
    settings,
    connection,
    requestId,
    prompt: params.prompt,
    cancellation,
    signal: AbortSignal.any([cancellation.signal, signal]),
  })
  session.running = cancellation
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
    await connection.write(`${JSON.stringify({ jsonrpc: '2.0', id: requestId, result: response })}\n`)
  }
  return response
}
