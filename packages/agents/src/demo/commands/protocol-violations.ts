import { randomUUID } from 'node:crypto'
import { RequestError } from '@agentclientprotocol/sdk/unstable'
import { newToolId, openTool } from '../tool-call.ts'
import type { Turn } from '../turn.ts'

export async function dup(turn: Turn): Promise<void> {
  turn.respondTwice = true
}

export async function unknownResponse(turn: Turn): Promise<void> {
  await turn.connection.write(`{"jsonrpc":"2.0","id":"nobody-asked-${randomUUID()}","result":{}}\n`)
}

export async function unknownRequest(turn: Turn, argument: string): Promise<void> {
  const method = argument || 'vitrine-demo/unheard-of'
  try {
    const answer = await turn.client.request(method, { sessionId: turn.session.id }, turn.requestOptions)
    await turn.say(`${method} answered ${JSON.stringify(answer)}.`)
  } catch (error) {
    turn.signal.throwIfAborted()
    if (!(error instanceof RequestError)) throw error
    await turn.say(`${method} answered error ${error.code}.`)
  }
}

export async function unknownNotification(turn: Turn, argument: string): Promise<void> {
  await turn.client.notify(argument || 'vitrine-demo/unheard-of', { sessionId: turn.session.id })
}

export async function toolOpen(turn: Turn): Promise<void> {
  const tool = await openTool(turn, { title: 'Never finished', kind: 'other', status: 'in_progress' })
  turn.openToolCalls.delete(tool.call.toolCallId)
}

/** Like cline: sends an update of a tool call before the tool call. */
export async function toolFirst(turn: Turn): Promise<void> {
  const toolCallId = newToolId()
  await turn.send({ sessionUpdate: 'tool_call_update', toolCallId, status: 'in_progress' })
  await turn.send({
    sessionUpdate: 'tool_call',
    toolCallId,
    title: 'Announced late',
    kind: 'other',
    status: 'pending',
  })
  await turn.send({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' })
}
