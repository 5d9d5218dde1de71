import { describeAgent } from './agent-cases.ts'
import { gemini } from './expected.ts'

describeAgent(gemini)
