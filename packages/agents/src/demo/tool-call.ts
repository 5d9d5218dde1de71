import { randomUUID } from 'node:crypto'
import type { ToolCall, ToolCallContent, ToolCallUpdate } from '@agentclientprotocol/sdk/unstable'
import type { Turn } from './turn.ts'

/** An announced tool call. Its creator must close it; a cancel closes the ones still open. */
export interface OpenTool {
  readonly call: ToolCall
  update(change: Omit<ToolCallUpdate, 'toolCallId'>): Promise<void>
  /** Sends the last update. */
  close(change: Omit<ToolCallUpdate, 'toolCallId'>): Promise<void>
  complete(change?: Omit<ToolCallUpdate, 'toolCallId' | 'status'>): Promise<void>
  fail(why: string): Promise<void>
}

export async function openTool(turn: Turn, start: Omit<ToolCall, 'toolCallId'>): Promise<OpenTool> {
  const call: ToolCall = { status: 'pending', ...start, toolCallId: newToolId() }
  turn.openToolCalls.add(call.toolCallId)
  await turn.send({ sessionUpdate: 'tool_call', ...call })
  const update = (change: Omit<ToolCallUpdate, 'toolCallId'>) =>
    turn.send({ sessionUpdate: 'tool_call_update', toolCallId: call.toolCallId, ...change })
  const close = async (change: Omit<ToolCallUpdate, 'toolCallId'>) => {
    await update(change)
    turn.openToolCalls.delete(call.toolCallId)
  }
  return {
    call,
    update,
    close,
    complete: (change) => close({ ...change, status: 'completed' }),
    fail: (why) => close({ status: 'failed', content: [textContent(why)] }),
  }
}

export async function failOpenTools(turn: Turn): Promise<void> {
  for (const toolCallId of turn.openToolCalls) {
    await turn.sendAnyway({ sessionUpdate: 'tool_call_update', toolCallId, status: 'failed' })
  }
  turn.openToolCalls.clear()
}

export function newToolId(): string {
  return `tool-${randomUUID()}`
}

export function textContent(text: string): ToolCallContent {
  return { type: 'content', content: { type: 'text', text } }
}
