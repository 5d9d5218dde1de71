import { describeAgent } from './agent-cases.ts'
import { opencode } from './expected.ts'

describeAgent(opencode)
