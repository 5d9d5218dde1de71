import { describeAgent } from './agent-cases.ts'
import { cline } from './expected.ts'

describeAgent(cline)
