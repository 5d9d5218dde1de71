import type { Schema } from './schema.ts'
import type { Tool } from './tools.ts'

export type DialectName = 'anthropic' | 'openai-responses' | 'openai-chat' | 'gemini'

/** A request of an agent to the model, independent of the dialect. */
export interface CompletionRequest {
  readonly model: string
  readonly stream: boolean
  /** Earlier messages of the user, joined. */
  readonly earlier: string
  /** The last message of the user. */
  readonly prompt: string
  /** Tool results after the last message of the user. */
  readonly results: readonly string[]
  readonly tools: readonly Tool[]
  /** JSON schema that the reply must match. */
  readonly shape?: Schema | undefined
}

export interface ConversationItem {
  readonly by: 'user' | 'tool' | 'model'
  readonly text: string
}

/** Finds the last message of the user, the earlier ones, and the tool results since; reminders of the agent are ignored. */
export function lastTurn(
  conversation: readonly ConversationItem[],
): Pick<CompletionRequest, 'earlier' | 'prompt' | 'results'> {
  const items = conversation
    .map(({ by, text }) => ({ by, text: by === 'user' ? withoutReminders(text) : text }))
    .filter(({ by, text }) => by !== 'user' || text.trim() !== '')
  const last = items.findLastIndex(({ by }) => by === 'user')
  return {
    earlier: texts(items.slice(0, Math.max(last, 0)), 'user').join('\n'),
    prompt: items[last]?.text ?? '',
    results: texts(items.slice(last + 1), 'tool'),
  }
}

function texts(items: readonly ConversationItem[], author: ConversationItem['by']): string[] {
  return items.filter(({ by }) => by === author).map(({ text }) => text)
}

function withoutReminders(text: string): string {
  return text.replace(/<system-reminder>[\s\S]*?<\/system-reminder>/g, '')
}
