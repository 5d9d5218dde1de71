import type {
  ContentBlock,
  SessionUpdate,
  ToolCall,
  ToolCallContent,
} from '@agentclientprotocol/sdk/unstable'

const maxTextChars = 64 * 1024
const maxUpdates = 500

/** Adds an update in the form in which it is replayed: chunks as one message, a tool call as its last state. */
export function addToHistory(history: SessionUpdate[], update: SessionUpdate): void {
  switch (update.sessionUpdate) {
    case 'user_message_chunk':
      history.push({ ...update, content: shortened(update.content) })
      break
    case 'agent_message_chunk':
    case 'agent_thought_chunk':
      addChunk(history, update)
      break
    case 'tool_call':
    case 'tool_call_update':
      mergeToolCall(history, update)
      break
    case 'plan': {
      const index = history.findLastIndex(({ sessionUpdate }) => sessionUpdate === 'plan')
      const turn = history.findLastIndex(({ sessionUpdate }) => sessionUpdate === 'user_message_chunk')
      if (index > turn) history[index] = update
      else history.push(update)
      break
    }
    default:
    // Other updates describe the session, not the conversation, and are stored with the session.
  }
  if (history.length > maxUpdates) history.splice(0, history.length - maxUpdates)
}

type Chunk = Extract<SessionUpdate, { sessionUpdate: 'agent_message_chunk' | 'agent_thought_chunk' }>

function addChunk(history: SessionUpdate[], update: Chunk): void {
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

function mergeToolCall(history: SessionUpdate[], update: ToolUpdate): void {
  const index = history.findLastIndex(
    (item) => item.sessionUpdate === 'tool_call' && item.toolCallId === update.toolCallId,
  )
  const before = history[index]
  const known: Partial<ToolCall> = before?.sessionUpdate === 'tool_call' ? before : {}
  // In an update, null means that the field is unchanged.
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
  else history[index] = merged
}

/** The update for a replay: a terminal no longer exists then, so its output is sent as text. */
export function replayable(update: SessionUpdate): SessionUpdate {
  if (update.sessionUpdate !== 'tool_call' || !update.content) return update
  return { ...update, content: update.content.map((item) => withoutTerminal(item, update.rawOutput)) }
}

function withoutTerminal(content: ToolCallContent, rawOutput: unknown): ToolCallContent {
  if (content.type !== 'terminal') return content
  const output =
    typeof rawOutput === 'object' && rawOutput !== null && 'output' in rawOutput ? rawOutput.output : ''
  return { type: 'content', content: shortened({ type: 'text', text: String(output) }) }
}

function shortened(content: ContentBlock): ContentBlock {
  if (content.type === 'text') {
    return content.text.length <= maxTextChars
      ? content
      : { ...content, text: content.text.slice(-maxTextChars) }
  }
  const size = JSON.stringify(content).length
  return size <= maxTextChars ? content : { type: 'text', text: `[${content.type}, ${size} characters]` }
}
