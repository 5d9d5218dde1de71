import { describeAgent } from './agent-cases.ts'
import { pi } from './expected.ts'

describeAgent(pi)
