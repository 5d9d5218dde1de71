import type { Schema } from './schema.ts'
import type { Tool } from './tools.ts'

export type DialectName = 'anthropic' | 'openai-responses' | 'openai-chat' | 'gemini'

/** What an agent asks of the model, whatever the dialect. */
export interface Ask {
  readonly model: string
  readonly stream: boolean
  /** The last message of the user. */
  readonly prompt: string
  /** What tools gave back since. */
  readonly results: readonly string[]
  readonly tools: readonly Tool[]
  /** The answer must be JSON of this shape. */
  readonly shape?: Schema | undefined
}

export interface Said {
  readonly by: 'user' | 'tool' | 'model'
  readonly text: string
}

/** The last message of the user, and what tools gave back since; an agent's reminders are no message of the user. */
export function lastTurn(conversation: readonly Said[]): Pick<Ask, 'prompt' | 'results'> {
  const said = conversation
    .map(({ by, text }) => ({ by, text: by === 'user' ? withoutReminders(text) : text }))
    .filter(({ by, text }) => by !== 'user' || text.trim() !== '')
  const last = said.findLastIndex(({ by }) => by === 'user')
  return {
    prompt: said[last]?.text ?? '',
    results: said
      .slice(last + 1)
      .filter(({ by }) => by === 'tool')
      .map(({ text }) => text),
  }
}

function withoutReminders(text: string): string {
  return text.replace(/<system-reminder>[\s\S]*?<\/system-reminder>/g, '')
}
