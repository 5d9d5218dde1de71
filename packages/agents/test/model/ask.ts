import type { Schema } from './schema.ts'
import type { Tool } from './tools.ts'

export type DialectName = 'anthropic' | 'openai-responses' | 'openai-chat' | 'gemini'

/** What an agent asks of the model, whatever the dialect. */
export interface Ask {
  readonly model: string
  readonly stream: boolean
  /** What the user said before, one message after the other. */
  readonly earlier: string
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

/** The last message of the user, what was said before it, and what tools gave back since; an agent's reminders are no message of the user. */
export function lastTurn(conversation: readonly Said[]): Pick<Ask, 'earlier' | 'prompt' | 'results'> {
  const said = conversation
    .map(({ by, text }) => ({ by, text: by === 'user' ? withoutReminders(text) : text }))
    .filter(({ by, text }) => by !== 'user' || text.trim() !== '')
  const last = said.findLastIndex(({ by }) => by === 'user')
  return {
    earlier: texts(said.slice(0, Math.max(last, 0)), 'user').join('\n'),
    prompt: said[last]?.text ?? '',
    results: texts(said.slice(last + 1), 'tool'),
  }
}

function texts(said: readonly Said[], who: Said['by']): string[] {
  return said.filter(({ by }) => by === who).map(({ text }) => text)
}

function withoutReminders(text: string): string {
  return text.replace(/<system-reminder>[\s\S]*?<\/system-reminder>/g, '')
}
