import { describeAgent } from './agent-cases.ts'
import { claude } from './expected.ts'

describeAgent(claude)
