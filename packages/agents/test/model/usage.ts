import type { ModelReply } from './reply.ts'

export interface Usage {
  readonly input: number
  readonly output: number
}

/** Estimates the tokens of a text as four characters each. */
export function usageOf(asked: string, { thought, text, call }: ModelReply): Usage {
  const answered = [...thought, ...text, call ? JSON.stringify(call.input) : ''].join('')
  return { input: tokens(asked), output: tokens(answered) }
}

export function tokens(text: string): number {
  return Math.max(1, Math.ceil(text.length / 4))
}
