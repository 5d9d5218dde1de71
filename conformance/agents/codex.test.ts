import { describeAgent } from './agent-cases.ts'
import { codex } from './expected.ts'

describeAgent(codex)
