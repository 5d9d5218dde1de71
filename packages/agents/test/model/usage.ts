import type { Reply } from './reply.ts'

export interface Usage {
  readonly input: number
  readonly output: number
}

/** Four characters a token, as a rule of thumb. */
export function usageOf(asked: string, { thought, text, call }: Reply): Usage {
  const answered = [...thought, ...text, call ? JSON.stringify(call.input) : ''].join('')
  return { input: tokens(asked), output: tokens(answered) }
}

export function tokens(text: string): number {
  return Math.max(1, Math.ceil(text.length / 4))
}
