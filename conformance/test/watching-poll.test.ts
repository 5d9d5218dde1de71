import { watcherConformance } from '../src/index.ts'
import { localSandboxes } from './sandboxes.ts'

watcherConformance('plain processes, poll', localSandboxes('none', 'memory', 'poll'))
