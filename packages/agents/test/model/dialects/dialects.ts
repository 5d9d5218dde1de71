import { anthropic } from './anthropic.ts'
import { chat } from './chat.ts'
import type { Dialect } from './dialect.ts'
import { gemini } from './gemini.ts'
import { responses } from './responses.ts'

export const dialects: readonly Dialect[] = [anthropic, responses, chat, gemini]
