import type {
  ContentBlock,
  SessionUpdate,
  ToolCall,
  ToolCallContent,
} from '@agentclientprotocol/sdk/unstable'

const longestText = 64 * 1024
const mostUpdates = 500

/** Adds an update the way it is told again later: chunks as one message, a tool call as its last state. */
export function remember(history: SessionUpdate[], update: SessionUpdate): void {
  switch (update.sessionUpdate) {
    case 'user_message_chunk':
      history.push({ ...update, content: shortened(update.content) })
      break
    case 'agent_message_chunk':
    case 'agent_thought_chunk':
      rememberChunk(history, update)
      break
    case 'tool_call':
    case 'tool_call_update':
      rememberToolCall(history, update)
      break
    case 'plan': {
      const place = history.findLastIndex(({ sessionUpdate }) => sessionUpdate === 'plan')
      const turn = history.findLastIndex(({ sessionUpdate }) => sessionUpdate === 'user_message_chunk')
      if (place > turn) history[place] = update
      else history.push(update)
      break
    }
    default:
    // What is left describes the session, not the conversation, and is kept with the session.
  }
  if (history.length > mostUpdates) history.splice(0, history.length - mostUpdates)
}

type Chunk = Extract<SessionUpdate, { sessionUpdate: 'agent_message_chunk' | 'agent_thought_chunk' }>

function rememberChunk(history: SessionUpdate[], update: Chunk): void {
  const last = history.at(-1)
  if (
    last?.sessionUpdate === update.sessionUpdate &&
    last.messageId === update.messageId &&
    last.content.type === 'text' &&
    update.content.type === 'text'
  ) {
    const text = last.content.text + update.content.text
    history[history.length - 1] = { ...update, content: shortened({ type: 'text', text }) }
  } else {
    history.push({ ...update, content: shortened(update.content) })
  }
}

type ToolUpdate = Extract<SessionUpdate, { sessionUpdate: 'tool_call' | 'tool_call_update' }>

function rememberToolCall(history: SessionUpdate[], update: ToolUpdate): void {
  const place = history.findLastIndex(
    (item) => item.sessionUpdate === 'tool_call' && item.toolCallId === update.toolCallId,
  )
  const before = history[place]
  const known: Partial<ToolCall> = before?.sessionUpdate === 'tool_call' ? before : {}
  // An update's null means that the field does not change.
  const given: Partial<ToolCall> = Object.fromEntries(
    Object.entries(update).filter(([, value]) => value !== undefined && value !== null),
  )
  const merged: SessionUpdate = {
    title: 'Tool',
    ...known,
    ...given,
    toolCallId: update.toolCallId,
    sessionUpdate: 'tool_call',
  }
  if (before === undefined) history.push(merged)
  else history[place] = merged
}

/** As it is told again: a terminal is gone by then, what it showed is not. */
export function retold(update: SessionUpdate): SessionUpdate {
  if (update.sessionUpdate !== 'tool_call' || !update.content) return update
  return { ...update, content: update.content.map((item) => lasting(item, update.rawOutput)) }
}

function lasting(content: ToolCallContent, rawOutput: unknown): ToolCallContent {
  if (content.type !== 'terminal') return content
  const output =
    typeof rawOutput === 'object' && rawOutput !== null && 'output' in rawOutput ? rawOutput.output : ''
  return { type: 'content', content: shortened({ type: 'text', text: String(output) }) }
}

function shortened(content: ContentBlock): ContentBlock {
  if (content.type === 'text') {
    return content.text.length <= longestText
      ? content
      : { ...content, text: content.text.slice(-longestText) }
  }
  const size = JSON.stringify(content).length
  return size <= longestText ? content : { type: 'text', text: `[${content.type}, ${size} characters]` }
}
